/** Services that all modules of a run share. Each starts when a module first requests it. */
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { SharedDatabases } from '../../support/peers/databases.ts'
import { give, makeCluster, Postgresql } from '../../support/peers/postgresql.ts'
import { servicesVariable, type RunServices } from '../../support/peers/servers-of-run.ts'

export interface Services extends AsyncDisposable {
  /** Environment variables for the test processes. */
  readonly env: Readonly<Record<string, string>>
}

/** Serves requests of test processes until disposal, which ends the services. */
export async function startServices(): Promise<Services> {
  await using starting = new AsyncDisposableStack()
  const { path: folder } = starting.use(await temporaryFolder('services'))
  const running = starting.use(new AsyncDisposableStack())
  const start = startersIn(folder, running)
  const path = join(folder, 'services.sock')
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket, start))
  server.listen(path)
  await once(server, 'listening')
  const services = starting.move()
  return {
    env: { [servicesVariable]: path },
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
      await services[Symbol.asyncDispose]()
    },
  }
}

type Starters = { readonly [Name in keyof RunServices]: () => Promise<RunServices[Name]> }

/** Each service starts at the first request; later requests get the same one. */
function startersIn(folder: string, running: AsyncDisposableStack): Starters {
  const cluster = memoized(async () => {
    const own = join(folder, 'postgresql')
    await mkdir(own)
    await give(own)
    await makeCluster(join(own, 'cluster'))
    return { folder: join(own, 'cluster') }
  })
  const postgresql = memoized(async () => {
    const server = running.use(await Postgresql.start([], (await cluster()).folder))
    await SharedDatabases.prepare(server)
    return { port: server.port }
  })
  return { cluster, postgresql }
}

async function answer(socket: Socket, start: Starters): Promise<void> {
  try {
    const name = await text(socket)
    if (!isService(name, start)) throw new Error('there is no such service')
    socket.end(JSON.stringify(await start[name]()))
  } catch (error) {
    socket.end(JSON.stringify({ error: (error as Error).message }))
  }
}

const isService = (name: string, start: Starters): name is keyof RunServices => Object.hasOwn(start, name)

function memoized<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => (made ??= make())
}
