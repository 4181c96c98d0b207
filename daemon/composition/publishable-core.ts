/** Publishable keys, composed: keys, reveal links, snippets, and what asks the providers of captchas. */
import { oauthUrls, publicUrl, type Config } from '#config/settings/load.ts'
import type { GrantSettingsSource } from '#core/access/principal/access-settings.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import { Audit } from '#core/writes/audit.ts'
import type { Clock } from '#core/clock.ts'
import type { AccessTokens } from '#core/oauth/tokens/access-tokens.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import type { CaptchaOptions } from '#core/visitors/captcha.ts'
import { KeyTokens } from '#core/publishable/key-token.ts'
import { PublishableKeys } from '#core/publishable/publishable-keys.ts'
import { Reveals } from '#core/publishable/reveals.ts'
import { Snippets } from '#core/publishable/snippets.ts'
import type { SettingWrites } from '#core/writes/setting-writes.ts'
import type { Database } from '#store/database.ts'
import { guardedPost } from '../../protocols/outbound/clients.ts'

export interface PublishableParts {
  readonly config: Pick<Config, 'baseUrl' | 'smtpHost' | 'authUrl' | 'mcpUrl' | 'captcha'> & {
    readonly http: Pick<Config['http'], 'listen'>
  }
  readonly database: Database
  readonly policies: GrantSettingsSource
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly writes: SettingWrites
  readonly resolver: Resolver
  readonly accessTokens: AccessTokens
}

export interface Publishable {
  readonly keys: PublishableKeys
  readonly reveals: Reveals
  readonly snippets: Snippets
  readonly captcha: CaptchaOptions
}

export function publishableCore({ config, accessTokens, ...parts }: PublishableParts): Publishable {
  const { issuer, resources } = oauthUrls(config, config.http.listen)
  const reveals = new Reveals({ ...parts, audit: new Audit(parts), pagesUrl: issuer })
  const tokens = new KeyTokens({ ...parts, issuer, audience: resources.rest })
  const isAccessToken = async (token: string): Promise<boolean> =>
    (await Promise.all([accessTokens.read(token, 'rest'), accessTokens.read(token, 'mcp')])).some(Boolean)
  return {
    keys: new PublishableKeys({ ...parts, tokens, reveals, isAccessToken }),
    reveals,
    snippets: new Snippets({ ...parts, reveals, baseUrl: publicUrl(config, config.http.listen) }),
    captcha: {
      secrets: parts.secrets,
      // the operator alone says where; a verifier of their own may stand in their private network, and in clear only there
      post: guardedPost({ ...parts, guard: () => true }),
      verifyUrls: { turnstile: config.captcha.turnstileVerifyUrl, hcaptcha: config.captcha.hcaptchaVerifyUrl },
    },
  }
}
