/** A provider of captchas that answers as a test tells it, and publishable keys of two kinds. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import type { Config } from '#config/load.ts'
import type { RestClient } from '../../support/rest.ts'

export type VerifyUrls = Config['captcha']

/** What a provider was asked. */
export interface Verification {
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
}

export type Said = { readonly status?: number; readonly text: string } | 'hang up'

export interface CaptchaDouble {
  readonly urls: VerifyUrls
  readonly asked: Verification[]
  /** What it says of a token; unless told, yes to the secret `right`, once for each token. */
  say: ((fields: Readonly<Record<string, string>>) => Said | Promise<Said>) | undefined
}

const verdict = (success: boolean, ...codes: string[]): string => JSON.stringify({ success, 'error-codes': codes })

/** Both providers at once: Turnstile under /turnstile, hCaptcha under /hcaptcha. */
export async function captchaDouble(t: Pick<ExecutionContext, 'teardown'>): Promise<CaptchaDouble> {
  const used = new Set<string>()
  const usual = ({ secret, response = '' }: Readonly<Record<string, string>>): string => {
    if (secret !== 'right') return verdict(false, 'invalid-input-secret')
    if (!response.startsWith('solved')) return verdict(false, 'invalid-input-response')
    if (used.has(response)) return verdict(false, 'timeout-or-duplicate')
    used.add(response)
    return verdict(true)
  }
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
    req.on('end', () => {
      const fields = Object.fromEntries(new URLSearchParams(body))
      double.asked.push({ path: req.url ?? '', fields })
      const said = double.say ? double.say(fields) : { text: usual(fields) }
      void Promise.resolve(said).then((answer) => {
        if (answer === 'hang up') return void req.socket.destroy()
        res.writeHead(answer.status ?? 200, { 'content-type': 'application/json' }).end(answer.text)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const urls = { turnstileVerifyUrl: `${at}/turnstile`, hcaptchaVerifyUrl: `${at}/hcaptcha` }
  const double: CaptchaDouble = { urls, asked: [], say: undefined }
  return double
}

/** A key that is shown, and the reveal link of another one. */
export async function makeForPages(rest: RestClient) {
  const page = { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }
  const shown = await rest.must('POST', '/v1/publishable-keys', page)
  const hidden = await rest.must('POST', '/v1/publishable-keys', { ...page, reveal: true })
  return { publishable: String(shown['id']), reveal: String(hidden['reveal_url']) }
}
