/**
 * A start as root: what only root may bind is bound, and then the process becomes the user of the service for good, before it opens
 * anything that is stored. What it writes is that user's.
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

/** Of Node.js, and not among its types. */
type GroupsOfUsers = NodeJS.Process & { initgroups(user: string, group: number): void }

const firstFreePort = 1024

/**
 * The configuration as the user may use it: addresses that are bound already bring what is bound there along. Throws `StartRefused` when
 * the user is not known, cannot be become, or owns not what is stored.
 */
export async function becomeUser(config: Config): Promise<Config> {
  const { user: name, dataDir } = config
  if (name === null) return config
  const user = await userNamed(name)
  if (process.getuid?.() === user.uid) return config
  if (process.getuid?.() !== 0)
    throw refused(`POSTERN_USER is ${name}, whom only root can become; start as root or as ${name}, or leave it out.`)
  if (user.uid === 0) throw refused('POSTERN_USER is root; name a user of the service alone, such as postern.')
  await giveDataFolder(dataDir, user)
  const held = await explainListen(config, () => holdPorts(listenersOf(config).map(({ endpoint }) => endpoint)))
  ;(process as GroupsOfUsers).initgroups(user.name, user.gid)
  process.setgid?.(user.gid)
  process.setuid?.(user.uid)
  return withHeld(config, held)
}

const refused = (message: string): StartRefused => new StartRefused(message, exitCodes.configuration)

/** From the file, or from the system's other sources of users. */
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
    throw refused(`POSTERN_USER is ${name}, whom this system does not know; make the user (useradd --system ${name}), or name another.`)
  }
}

/** A folder that is made now becomes the user's; what is there must be already. */
async function giveDataFolder(dataDir: string, { name, uid, gid }: User): Promise<void> {
  const isNew = await makeFolder(dataDir)
  if (isNew) return chown(dataDir, uid, gid)
  const { uid: owner } = await stat(dataDir)
  if (owner !== uid) throw refused(`${dataDir} is not ${name}'s, who is to run Postern (POSTERN_USER); run chown -R ${name}: ${dataDir}.`)
}

const keyOf = ({ host, port }: Endpoint): string => `${host} ${String(port)}`

/** Until the listeners take them over, whoever connects is hung up on. */
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
