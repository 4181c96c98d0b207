/** A proxy to the MCP endpoint that adds a token, for test programs without a sign-in. */
import { createServer, request } from 'node:http'
import type { ExecutionContext } from 'ava'
import { listenIn } from '../../../support/web/listen.ts'
import type { McpFixture } from '../mcp-fixture.ts'

/** Returns the address of the proxy. */
export async function proxyWith(t: ExecutionContext, { address }: McpFixture, token: string): Promise<string> {
  const server = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` }
    const sent = request(`http://${address}${asked.url ?? ''}`, { method: asked.method ?? 'GET', headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers)
      given.pipe(answer)
    })
    sent.on('error', () => answer.destroy())
    answer.on('close', () => sent.destroy())
    asked.pipe(sent)
  })
  return `http://127.0.0.1:${await listenIn(t, server)}/mcp`
}
