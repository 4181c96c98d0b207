/** The two servers that are compared, each made afresh for every measurement, in the same kind of folder on the same disk. */
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { Daemon, portOf, type DaemonOptions } from '../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../support/daemon/provision.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { Postfix } from '../peers/postfix.ts'
import { memoryOf, memoryOfTree, processorTimeOfTree } from './resources.ts'

/** A server under load, as the measurements see it. */
export interface Contender extends AsyncDisposable {
  readonly name: 'Postfix' | 'Postern'
  readonly port: number
  readonly login?: Login
  /** Peak memory in MiB, as the system reports it. */
  memory(): Promise<number>
  /** Processor time used so far, in seconds. */
  processorTime(): Promise<number>
}

/** Where accepted mail goes: to this port, or nowhere, so that intake alone is measured. */
export type Outlet = number | 'nowhere'

export const sender = 'sender@load.test'
export const recipient = 'recipient@inbox.test'

/**
 * Postfix with its durability untouched and the limits lifted that would slow fifty sessions: process and connection
 * limits, the pause it makes when intake outruns the queue, and the slow start towards one destination. With nowhere to
 * go, mail is put on hold, which of all ways to keep Postfix from delivering costs it least.
 */
export async function startPostfix(outlet: Outlet): Promise<Contender> {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await temporaryFolder('bench-postfix')).path
  const settings = {
    default_process_limit: '150',
    in_flow_delay: '0',
    smtpd_client_connection_count_limit: '0',
    smtpd_client_connection_rate_limit: '0',
    initial_destination_concurrency: '50',
    default_destination_concurrency_limit: '50',
    ...(outlet === 'nowhere'
      ? { smtpd_recipient_restrictions: 'check_client_access static:HOLD, permit_mynetworks, reject' }
      : { relayhost: `[127.0.0.1]:${String(outlet)}` }),
  }
  const postfix = cleanup.use(await Postfix.start({ folder, settings }))
  const master = await postfix.masterPid()
  const all = cleanup.move()
  return {
    name: 'Postfix',
    port: postfix.port,
    memory: () => memoryOfTree(master),
    processorTime: () => processorTimeOfTree(master),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

export interface Postern extends Contender {
  readonly daemon: Daemon
}

/** The daemon as shipped, with AUTH and every gate; only the cap on sessions from one address is lifted. */
export async function startPostern(outlet: Outlet, env: Readonly<Record<string, string>> = {}): Promise<Postern> {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await temporaryFolder('bench-postern')).path
  const port = outlet === 'nowhere' ? cleanup.use(await silentHost()).port : outlet
  const daemon = cleanup.use(await Daemon.start(posternOptions(folder, env)))
  const login = await provision(daemon, port, 'live')
  const all = cleanup.move()
  return { ...contender(daemon, login), [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** The options of a daemon that is measured. */
export const posternOptions = (folder: string, env: Readonly<Record<string, string>> = {}): DaemonOptions => ({
  folder,
  env: { POSTERN_SUBMISSION_MAX_CONNECTIONS_PER_ADDRESS: '200', ...env },
})

/** Sends every message of a daemon to one port, by as many connections as Postfix may use, or captures it. */
export async function provision(daemon: Daemon, port: number, mode: 'live' | 'sandbox'): Promise<Login> {
  const destination = await makeDestination(daemon.rest, { name: 'outlet', port, mode, maxConnections: 50 })
  await makeRoute(daemon.rest, destination)
  return makeLogin(daemon.rest, destination)
}

export function contender(daemon: Daemon, login: Login): Omit<Postern, typeof Symbol.asyncDispose> {
  const { pid, submission } = daemon.addresses
  return {
    name: 'Postern',
    daemon,
    login,
    port: portOf(submission[0]),
    memory: () => memoryOf(pid, 'VmHWM'),
    processorTime: () => processorTimeOfTree(pid),
  }
}

/** A smart host that takes connections and says nothing, so that mail stays queued. */
export async function silentHost(): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the silent host does not listen')
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
