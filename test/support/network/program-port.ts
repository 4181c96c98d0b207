/** Port numbers for programs that cannot listen on port 0 and report the port they got. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Below the ephemeral range, so no outgoing connection and no server on port 0 uses these ports. */
const [firstPort, lastPort] = [20_000, 29_999]
/** Ports of one process. */
const blockSize = 200

/** The only state of this module: the remaining ports of the process. */
let block: Promise<Generator<number>> | undefined

/** Returns a free port of loopback. No other caller on this machine gets the same number while the process runs. */
export async function programPort(): Promise<number> {
  const ports = await (block ??= claimBlock())
  // not a loop over the generator: leaving that would end it
  for (let next = ports.next(); !next.done; next = ports.next()) if (await isFree(next.value)) return next.value
  throw new Error(`the process has used its ${String(blockSize - 1)} ports`)
}

/** Listens on the first port of a block until the process ends, which reserves the block for this process. */
async function claimBlock(): Promise<Generator<number>> {
  const blocks = (lastPort - firstPort + 1) / blockSize
  for (let n = 0; n < blocks; n++) {
    const first = firstPort + ((process.pid + n) % blocks) * blockSize
    const holder = createServer().unref()
    if (await listens(holder, first)) return numbers(first + 1, first + blockSize)
  }
  throw new Error(`all blocks of ports from ${String(firstPort)} to ${String(lastPort)} are reserved by running processes`)
}

function* numbers(first: number, end: number): Generator<number> {
  for (let port = first; port < end; port++) yield port
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const free = await listens(server, port)
  if (free) await once(server.close(), 'close')
  return free
}

async function listens(server: Server, port: number): Promise<boolean> {
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.listen(port, '127.0.0.1')
  return listening
}
