/** Composes publishable keys: keys, reveal links, snippets and captcha checks. */
import { oauthUrls, publicUrl } from '#config/settings/load.ts'
import { KeyTokens } from '#core/publishable/key-token.ts'
import { PublishableKeys } from '#core/publishable/publishable-keys.ts'
import { Reveals } from '#core/publishable/reveals.ts'
import { Snippets } from '#core/publishable/snippets.ts'
import { Captchas } from '#core/visitors/captcha.ts'
import { guardedPost } from '../../protocols/outbound/clients.ts'
import type { Publishable } from './composed.ts'
import type { Composition } from './parts.ts'

export function publishableCore({ get, config, replace }: Composition): Publishable {
  const core = get('core')
  const { accessTokens } = get('oauth')
  const { issuer, resources } = oauthUrls(config, config.http.listen)
  const reveals = new Reveals({ ...core, pagesUrl: issuer })
  const tokens = new KeyTokens({ ...core, issuer, audience: resources.rest })
  const isAccessToken = async (token: string): Promise<boolean> =>
    (await Promise.all([accessTokens.read(token, 'rest'), accessTokens.read(token, 'mcp')])).some(Boolean)
  return {
    keys: new PublishableKeys({ ...core, tokens, reveals, isAccessToken, lateCounts: get('lateCounts') }),
    reveals,
    snippets: new Snippets({ ...core, reveals, baseUrl: publicUrl(config, config.http.listen) }),
    captchas: new Captchas({
      ...{ secrets: core.secrets, clock: core.clock },
      // no address guard, because only the operator sets the address; a private verifier may use http
      post: guardedPost({ clock: core.clock, resolver: get('resolver'), guard: replace.guard ?? (() => true) }),
      verifyUrls: { turnstile: config.captcha.turnstileVerifyUrl, hcaptcha: config.captcha.hcaptchaVerifyUrl },
    }),
  }
}
