/**
 * Drops root at the start: binds the ports that only root may bind, then becomes the user of the service for good, and only then opens
 * stored data. That user owns all files it writes.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, readFile, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import type { Endpoint } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { makeFolder } from './data-folder.ts'
import { exitCodes } from './lifecycle.ts'
import { explainListen, listenersOf } from './listen-problem.ts'
import { StartRefused } from './start-refused.ts'

interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** A function of Node.js that is missing in its types. */
type GroupsOfUsers = NodeJS.Process & { initgroups(user: string, group: number): void }

const firstFreePort = 1024

/**
 * Returns the configuration for the user; endpoints that are already bound have their server in `bound`. Throws `StartRefused` if the user
 * is unknown, cannot be assumed, or does not own the data.
 */
export async function becomeUser(config: Config): Promise<Config> {
  const { user: name, dataDir } = config
  if (name === null) return config
  const user = await userNamed(name)
  if (process.getuid?.() === user.uid) return config
  if (process.getuid?.() !== 0)
    throw refused(`POSTERN_USER is ${name}, but only root can change the user; start as root or as ${name}, or remove the setting.`)
  if (user.uid === 0) throw refused('POSTERN_USER is root; set a dedicated user, such as postern.')
  await giveDataFolder(dataDir, user)
  const held = await explainListen(config, () => holdPorts(listenersOf(config).map(({ endpoint }) => endpoint)))
  ;(process as GroupsOfUsers).initgroups(user.name, user.gid)
  process.setgid?.(user.gid)
  process.setuid?.(user.uid)
  return withHeld(config, held)
}

const refused = (message: string): StartRefused => new StartRefused(message, exitCodes.configuration)

/** Looks up a user in /etc/passwd, or in the system's other sources of users. */
async function userNamed(name: string): Promise<User> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
  if (uid !== undefined && gid !== undefined) return { name, uid: Number(uid), gid: Number(gid) }
  try {
    const [number, group] = ['-u', '-g'].map((option) =>
      Number(execFileSync('id', [option, '--', name], { encoding: 'utf8', stdio: 'pipe' })),
    )
    return { name, uid: number ?? 0, gid: group ?? 0 }
  } catch {
    throw refused(`POSTERN_USER is ${name}, but this user does not exist; create it (useradd --system ${name}), or set another.`)
  }
}

/** Gives a new data folder to the user. An existing folder must already belong to the user. */
async function giveDataFolder(dataDir: string, { name, uid, gid }: User): Promise<void> {
  const isNew = await makeFolder(dataDir)
  if (isNew) return chown(dataDir, uid, gid)
  const { uid: owner } = await stat(dataDir)
  if (owner !== uid) throw refused(`${dataDir} does not belong to ${name} (POSTERN_USER); run chown -R ${name}: ${dataDir}.`)
}

const keyOf = ({ host, port }: Endpoint): string => `${host} ${String(port)}`

/** Binds privileged ports. Until the listeners take over, connections are closed. */
async function holdPorts(endpoints: readonly Endpoint[]): Promise<ReadonlyMap<string, Server>> {
  const held = new Map<string, Server>()
  for (const endpoint of endpoints.filter(({ port }) => port > 0 && port < firstFreePort)) {
    const server = createServer()
    server.maxConnections = 0
    server.listen(endpoint.port, endpoint.host)
    await once(server, 'listening')
    held.set(keyOf(endpoint), server)
  }
  return held
}

function withHeld(config: Config, held: ReadonlyMap<string, Server>): Config {
  const at = <E extends Endpoint>(endpoint: E): E => ({ ...endpoint, bound: held.get(keyOf(endpoint)) })
  const { http, submission, mx, acme, sites } = config
  return {
    ...config,
    http: { ...http, listen: at(http.listen), tlsListen: http.tlsListen && at(http.tlsListen) },
    submission: { ...submission, listen: submission.listen.map(at), implicitTlsListen: submission.implicitTlsListen.map(at) },
    mx: { ...mx, listen: mx.listen.map(at) },
    acme: { ...acme, listen: acme.listen.map(at) },
    sites: { ...sites, listen: sites.listen && at(sites.listen) },
  }
}
