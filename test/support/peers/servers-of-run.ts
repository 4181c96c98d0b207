/** Access to the services that all modules of a run share. A module that runs alone starts its own. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** The variable with the Unix socket where the run starts services on request. */
export const servicesVariable = 'POSTERN_TEST_SERVICES'

export interface RunServices {
  /** The port of a PostgreSQL server for modules that only need databases. */
  readonly postgresql: { readonly port: number }
  /** A folder made by `initdb`, which modules copy for their own servers. */
  readonly cluster: { readonly folder: string }
}

/** Starts the service unless the run has it. Returns undefined outside a run. */
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
