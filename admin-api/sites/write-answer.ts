/** An answer on its connection, as fast as the client takes it. */
import type { ServerResponse } from 'node:http'
import type { SiteAnswer } from '#core/sites/serving/site-answer.ts'

/** Resolves when all of it was handed over. Throws where it cannot be read to its end; the connection is cut then. */
export async function writeAnswer(res: ServerResponse, { status, headers, body }: SiteAnswer): Promise<void> {
  res.writeHead(status, headers)
  if (body === undefined || body instanceof Uint8Array) return void res.end(body)
  try {
    for await (const piece of body) {
      if (res.destroyed) return
      if (!res.write(piece)) await taken(res)
    }
    res.end()
  } catch (error) {
    res.destroy()
    throw error
  }
}

/** Resolves when more may be written, and when the client has left. */
function taken(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })
}
