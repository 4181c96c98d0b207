/** Three daemons behind the balancer of the compose file: each is replaced in turn, without failed calls. */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waiting } from '../../support/waits.ts'
import type { Daemon } from '../../support/daemon/daemon.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { anyDatabases } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { severalDaemons } from './daemons.ts'

const file = fileURLToPath(new URL('../../../daemon/packaging/container/haproxy.cfg', import.meta.url))
const names = ['one', 'two', 'three'] as const

const ports = ['8080', '587', '465', '25'] as const

/** The original configuration with other addresses: service names and well-known ports become those of daemons on loopback. */
async function configured(bound: Readonly<Record<string, number>>, http: Readonly<Record<string, number>>): Promise<string> {
  return (await readFile(file, 'utf8'))
    .replaceAll(
      /^ {2}server (\w+) (\w+):\d+$/gm,
      (_line, name: string) => `  server ${name} 127.0.0.1:${http[name]} check port ${http[name]}`,
    )
    .replaceAll(/bind :(\d+)/g, (_bind, port: string) => `bind 127.0.0.1:${bound[port] ?? 0}`)
    .replace('check port 8080 inter', 'inter')
    .replace(' init-addr none resolvers names', '')
    .replace(/resolvers names\n.*\n/, '')
}

testWith('postgresql', 'haproxy')('rolling replacement behind a balancer: no call fails', async (t) => {
  await using postgresql = await anyDatabases()
  await using folder = await temporaryFolder('balancer')
  const several = await severalDaemons(t, await postgresql.database())
  const env = { POSTERN_DRAIN_SECONDS: '3' }
  const http = Object.fromEntries(await Promise.all(names.map(async (one) => [one, await programPort()] as const)))
  const start = (name: string) => several.start({ ...env, POSTERN_HTTP_LISTEN: `127.0.0.1:${http[name]}` })
  let daemons: readonly Daemon[] = await Promise.all(names.map(start))
  const config = join(folder.path, 'haproxy.cfg')
  const bound = Object.fromEntries(await Promise.all(ports.map(async (one) => [one, await programPort()] as const)))
  const port = Number(bound['8080'])
  await writeFile(config, await configured(bound, http))
  const balancer = spawn('/usr/sbin/haproxy', ['-db', '-f', config], { stdio: 'ignore' })
  t.teardown(() => balancer.kill('SIGKILL'))
  await waiting('the balancer listens', untilListening(port))

  const failed: string[] = []
  let [sent, isOver] = [0, false]
  const client = async (): Promise<void> => {
    using rest = new RestClient(`127.0.0.1:${port}`, String(daemons[0]?.adminKey))
    while (!isOver) {
      const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: String(sent++), text: 't' }
      const { status, bytes } = await rest.call('POST', '/v1/messages', mail)
      if (status !== 200) failed.push(`${status} ${bytes.toString()}`)
    }
  }
  const clients = Promise.all([client(), client(), client()])
  for (const [at, name] of names.entries()) {
    const old = daemons[at]
    t.is((await old?.stop())?.code, 0)
    const next = await start(name)
    daemons = daemons.with(at, next)
    await waiting('the new daemon gets calls', next.said(/message accepted/))
  }
  isOver = true
  await clients
  t.deepEqual(failed, [])
  t.true(sent > 100)
})

async function untilListening(port: number): Promise<void> {
  for (let isOpen = false; !isOpen;) {
    const socket = connect(port, '127.0.0.1')
    const { promise, resolve } = Promise.withResolvers<boolean>()
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    isOpen = await promise
    socket.destroy()
  }
}
