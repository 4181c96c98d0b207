/** Writes a response at the speed of the client. */
import type { ServerResponse } from 'node:http'
import type { SiteAnswer } from '#core/sites/serving/site-answer.ts'

/** Resolves when the whole response was written. Throws if reading the body fails, and closes the connection. */
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

/** Resolves when more can be written, or when the client disconnects. */
function taken(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })
}
