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

const firstPort = 20_000
const ports = 10_000
/** Runs beside this one begin elsewhere, and none is given out twice here, where the server of the first may not listen yet. */
let next = (process.pid * 97) % ports

/**
 * A free port on loopback below the ephemeral range, for servers that cannot pick one themselves: a port of that range
 * could be taken by an outgoing connection between the look and the use.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = firstPort + next
    next = (next + 1) % ports
    if (await isFree(port)) return port
  }
  throw new Error(`no free port found between ${firstPort} and ${firstPort + ports - 1}`)
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
