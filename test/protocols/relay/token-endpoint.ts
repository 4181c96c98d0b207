/** An HTTPS token endpoint of OAuth 2.0 with scripted answers. It stores the received forms. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { ExecutionContext } from 'ava'
import { goodCertificate } from './certificates.ts'
import { listenIn } from '../../support/web/listen.ts'

/** Returns the answer to the nth request, counted from 1; JSON unless it is text. `hold` never answers. */
export type TokenScript = (count: number) => readonly [status: number, body: unknown] | 'hold'

export interface TokenEndpoint {
  readonly url: string
  readonly forms: Readonly<Record<string, string>>[]
  script: TokenScript
  /** Resolves after this number of requests. */
  reached(count: number): Promise<void>
}

/** Returns `token-1`, `token-2` … by default. */
const giving: TokenScript = (count) => [200, { access_token: `token-${count}`, expires_in: 3600, token_type: 'Bearer' }]

export async function tokenEndpoint(t: ExecutionContext, script: TokenScript = giving): Promise<TokenEndpoint> {
  const forms: Readonly<Record<string, string>>[] = []
  const server = createServer(goodCertificate, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      if (request.method !== 'POST' || request.headers['content-type'] !== 'application/x-www-form-urlencoded') {
        response.writeHead(415).end()
        return
      }
      forms.push(Object.fromEntries(new URLSearchParams(Buffer.concat(pieces).toString())))
      server.emit('form')
      const answer = endpoint.script(forms.length)
      if (answer === 'hold') return
      const [status, body] = answer
      response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  const port = await listenIn(t, server)
  const endpoint: TokenEndpoint = {
    url: `https://mail.test:${port}/token?v=2`,
    forms,
    script,
    async reached(count) {
      while (forms.length < count) await once(server, 'form')
    },
  }
  return endpoint
}
