/** The two compared servers. Each measurement starts a new one, in the same kind of folder on the same disk. */
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { Daemon, portOf, type DaemonOptions } from '../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../support/daemon/provision.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { makeCertificates } from '../support/web/certificates.ts'
import { Dovecot, dovecotPassword } from '../peers/dovecot.ts'
import { Postfix } from '../peers/postfix.ts'
import { memoryOf, memoryOfTree, processorTimeOfTree, threadTimes, type ThreadTimes } from './resources.ts'

/** A server under load. */
export interface Contender extends AsyncDisposable {
  readonly name: 'Postfix' | 'Postern'
  readonly port: number
  readonly login: Login
  /** Peak memory in MiB, as the system reports it. */
  memory(): Promise<number>
  /** Processor time since the start, in seconds. */
  processorTime(): Promise<number>
  /** Processor time by thread, and data written to the store; only for Postern. */
  readonly inside?: { threads(): Promise<ThreadTimes>; written(): Promise<Written> }
}

/** Data that a daemon has written to its store since its start, from its metrics. */
export interface Written {
  readonly rows: number
  readonly bytes: number
  /** Atomic writes. */
  readonly commits: number
  /** Group commits. Each makes several atomic writes durable together. */
  readonly syncs: number
}

/** Destination of accepted mail: this port, or `nowhere` to measure only intake. */
export type Outlet = number | 'nowhere'

export const sender = 'sender@load.test'
export const recipient = 'recipient@inbox.test'

/**
 * Starts Postfix with full durability. Limits that would slow 50 sessions are raised: process and connection limits, the delay when intake
 * outruns the queue, and the slow start of a destination. With `nowhere`, mail is put on hold, the cheapest way for Postfix not to deliver.
 * Every session logs in. Dovecot checks the password, as on most servers with Debian's Postfix, against a password in memory, which costs
 * less than any real setup. The certificate has a P-256 key, like Postern's.
 */
export async function startPostfix(outlet: Outlet): Promise<Contender> {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await temporaryFolder('bench-postfix')).path
  const dovecotFolder = cleanup.use(await temporaryFolder('bench-dovecot')).path
  const authSocket = join(dovecotFolder, 'auth')
  const dovecot = cleanup.use(await Dovecot.start({ folder: dovecotFolder, authSocket }))
  const { cert, key } = await makeCertificates(dovecotFolder)
  const settings = {
    default_process_limit: '150',
    in_flow_delay: '0',
    smtpd_client_connection_count_limit: '0',
    smtpd_client_connection_rate_limit: '0',
    initial_destination_concurrency: '50',
    default_destination_concurrency_limit: '50',
    smtpd_sasl_auth_enable: 'yes',
    smtpd_sasl_type: 'dovecot',
    smtpd_sasl_path: authSocket,
    smtpd_relay_restrictions: 'permit_sasl_authenticated, reject',
    smtpd_tls_security_level: 'may',
    smtpd_tls_chain_files: `${key}, ${cert}`,
    ...(outlet === 'nowhere'
      ? { smtpd_recipient_restrictions: 'check_client_access static:HOLD, permit_sasl_authenticated, reject' }
      : { relayhost: `[127.0.0.1]:${String(outlet)}` }),
  }
  const postfix = cleanup.use(await Postfix.start({ folder, settings }))
  const master = await postfix.masterPid()
  const all = cleanup.move()
  return {
    name: 'Postfix',
    port: postfix.port,
    login: { username: 'load', password: dovecotPassword },
    memory: async () => (await memoryOfTree(master)) + (await memoryOfTree(dovecot.pid)),
    processorTime: async () => (await processorTimeOfTree(master)) + (await processorTimeOfTree(dovecot.pid)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

export interface Postern extends Contender {
  readonly daemon: Daemon
}

/** Starts the daemon as shipped, with authentication and all checks. Only the limit on sessions from one address is raised. */
export async function startPostern(outlet: Outlet, env: Readonly<Record<string, string>> = {}): Promise<Postern> {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await temporaryFolder('bench-postern')).path
  const port = outlet === 'nowhere' ? cleanup.use(await silentHost()).port : outlet
  const daemon = cleanup.use(await Daemon.start(posternOptions(folder, env)))
  const login = await provision(daemon, port, 'live')
  const all = cleanup.move()
  return { ...contender(daemon, login), [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Options of a measured daemon. */
export const posternOptions = (folder: string, env: Readonly<Record<string, string>> = {}): DaemonOptions => ({
  folder,
  env: { POSTERN_SUBMISSION_MAX_CONNECTIONS_PER_ADDRESS: '200', ...env },
})

/** Routes all messages of a daemon to one port with as many connections as Postfix may use, or captures them. */
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
    inside: { threads: () => threadTimes(pid), written: () => writtenBy(daemon) },
  }
}

async function writtenBy(daemon: Daemon): Promise<Written> {
  const { bytes } = await daemon.rest.call('GET', '/metrics')
  const text = bytes.toString()
  const total = (name: string): number => Number(new RegExp(`^postern_${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    rows: total('store_rows_written_total'),
    bytes: total('store_written_bytes_total'),
    commits: total('commit_group_writes_sum'),
    syncs: total('commit_group_writes_count'),
  }
}

/** A smart host that accepts connections and stays silent, so that mail stays queued. */
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
