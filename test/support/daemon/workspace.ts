/** Folders and ports for one test run, gone afterwards. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that other users of the machine may enter (Postfix drops its privileges) and that disappears on disposal. */
export async function temporaryFolder(name: string): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), `postern-${name}-`))
  await chmod(path, 0o755)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/**
 * A free port on loopback below the ephemeral range, for servers that cannot pick one themselves: a port of that range
 * could be taken by an outgoing connection between the look and the use.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    if (await isFree(port)) return port
  }
  throw new Error('no free port found between 20000 and 29999')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.listen(port, '127.0.0.1')
  const free = await listening
  if (free) {
    server.close()
    await once(server, 'close')
  }
  return free
}
