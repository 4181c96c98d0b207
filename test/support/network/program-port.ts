/** Port numbers for programs that cannot listen on port 0 and report the port they got. */
import { createServer } from 'node:net'
import { once } from 'node:events'

/** Below the ephemeral range, so no outgoing connection and no server on port 0 uses these ports. */
const [firstPort, lastPort] = [20_000, 29_999]

/** The block of this process. `POSTERN_TEST_PORTS=20000-20199` names it; otherwise it begins at a port that follows from the process id. */
function* portsOfProcess(): Generator<number> {
  const named = /^(\d+)-(\d+)$/.exec(process.env['POSTERN_TEST_PORTS'] ?? '')
  if (named) {
    for (let port = Number(named[1]); port <= Number(named[2]); port++) yield port
    return
  }
  const count = lastPort - firstPort + 1
  const start = (process.pid * 97) % count
  for (let n = 0; n < count; n++) yield firstPort + ((start + n) % count)
}

/** The one state of this module: the process gives out each number once. */
const ports = portsOfProcess()

/** A free port of loopback. No other caller in this process gets the same number. */
export async function programPort(): Promise<number> {
  // not a loop over the generator: leaving that would end it
  for (let next = ports.next(); !next.done; next = ports.next()) if (await isFree(next.value)) return next.value
  throw new Error('all ports of this process are used; give it a larger block in POSTERN_TEST_PORTS')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.listen(port, '127.0.0.1')
  const free = await listening
  if (free) await once(server.close(), 'close')
  return free
}
