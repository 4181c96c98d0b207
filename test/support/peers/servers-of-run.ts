/** Access to the services that a run starts once for all its modules. A module that runs alone has none and starts its own. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** Names the Unix socket at which the run starts services on request. */
export const servicesVariable = 'POSTERN_TEST_SERVICES'

export interface RunServices {
  /** The port of a PostgreSQL server for modules that need databases and nothing else. */
  readonly postgresql: { readonly port: number }
  /** A folder made by `initdb`, for modules that start servers of their own from a copy. */
  readonly cluster: { readonly folder: string }
}

/** Starts the service if no module of the run did so before. Returns undefined outside a run. */
export async function serviceOfRun<Name extends keyof RunServices>(
  name: Name,
  path = process.env[servicesVariable],
): Promise<RunServices[Name] | undefined> {
  if (path === undefined) return undefined
  const socket = connect(path)
  const closed = once(socket, 'close')
  socket.end(name)
  const answer = JSON.parse(await text(socket)) as { readonly error: string } | RunServices[Name]
  await closed
  if ('error' in answer) throw new Error(`The run could not start ${name}: ${answer.error}`)
  return answer
}
