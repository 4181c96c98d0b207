/** Certificate files of the operator: read again after a change and on SIGHUP, with open connections, and never partially. */
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { waitFor } from '../../support/waits.ts'
import { makeSelfSigned } from '../../../daemon/certificates/self-signed.ts'
import { kinds, openAll, OpenConnection, shownSerials, type SecuredPorts } from './shown-certificates.ts'

const hour = 3_600_000

function newPair(): { readonly cert: string; readonly key: string; readonly serials: string[] } {
  const pair = makeSelfSigned({ names: ['localhost'], ipv4Addresses: [], notBefore: Date.now() - hour, notAfter: Date.now() + 48 * hour })
  return { ...pair, serials: kinds.map(() => new X509Certificate(pair.cert).serialNumber) }
}

/** Creates files like certbot: a link with the name points to the newest file. */
async function lay(folder: string, name: string, content: string, version: number): Promise<void> {
  await writeFile(join(folder, 'archive', `${version}-${name}`), content, { mode: 0o600 })
  await symlink(`archive/${version}-${name}`, join(folder, `${name}.new`))
  await rename(join(folder, `${name}.new`), join(folder, name))
}

interface Served {
  readonly daemon: Daemon
  readonly ports: SecuredPorts
  /** Resolves when this number of log lines contain the words. */
  said(args: string, times: number): Promise<unknown>
}

async function serve(t: ExecutionContext, env: Record<string, string>, folder: string): Promise<Served> {
  const daemon = await Daemon.start({ folder, env: { POSTERN_HTTPS_LISTEN: '127.0.0.1:0', ...env } })
  t.teardown(() => daemon[Symbol.asyncDispose]())
  const { https, submissions, submission, mx } = daemon.addresses
  const [secured, inside, starts, other] = [https, submissions, submission, mx].map(([address]) => portOf(address))
  return {
    daemon,
    ports: { https: secured ?? 0, submissions: inside ?? 0, submission: starts ?? 0, mx: other ?? 0 },
    said: (args, times) => waitFor(`${args}: ${daemon.log}`, async () => (daemon.log.split(args).length > times ? true : undefined)),
  }
}

test('certificate files: reloaded after changes and on SIGHUP; broken ones are ignored', async (t) => {
  await using folder = await temporaryFolder('certificate-files')
  const own = join(folder.path, 'live')
  await mkdir(join(own, 'archive'), { recursive: true })
  const [first, second, third, fourth] = [newPair(), newPair(), newPair(), newPair()]
  const put = async ({ cert, key }: { cert: string; key: string }, version: number): Promise<void> => {
    await lay(own, 'cert.pem', cert, version)
    await lay(own, 'key.pem', key, version)
  }
  await put(first, 1)
  const env = { POSTERN_TLS_CERT: join(own, 'cert.pem'), POSTERN_TLS_KEY: join(own, 'key.pem') }
  const { daemon, ports, said } = await serve(t, env, folder.path)
  t.deepEqual(await shownSerials(ports, { ca: first.cert, servername: 'localhost' }), first.serials)
  const kept = await openAll(ports)

  const anew = 'certificate reloaded; new connections use it'
  await put(second, 2)
  await said(anew, 1)
  t.deepEqual(await shownSerials(ports, { ca: second.cert, servername: 'localhost' }), second.serials)

  await lay(own, 'key.pem', third.key, 3)
  await said('the current certificate stays in use', 1)
  t.regex(daemon.log, /POSTERN_TLS_KEY: \S+ is not the key of the certificate/)
  t.deepEqual(await shownSerials(ports), second.serials)
  t.like((await daemon.rest.call('GET', '/readyz')).body, {
    status: 'ready',
    warnings: ['The certificate could not be replaced; the log says why.'],
  })
  await rm(join(own, 'cert.pem'))
  process.kill(daemon.addresses.pid, 'SIGHUP')
  await said('the current certificate stays in use', 2)
  t.deepEqual(await shownSerials(ports), second.serials)
  await lay(own, 'cert.pem', third.cert, 3)
  await said(anew, 2)
  t.deepEqual(await shownSerials(ports), third.serials)
  t.like((await daemon.rest.call('GET', '/readyz')).body, { warnings: [] })

  await writeFile(join(own, 'archive', '3-key.pem'), fourth.key)
  await writeFile(join(own, 'archive', '3-cert.pem'), fourth.cert)
  process.kill(daemon.addresses.pid, 'SIGHUP')
  await said(anew, 3)
  t.deepEqual(await shownSerials(ports), fourth.serials)

  for (const [index, connection] of kept.entries()) {
    t.regex(await connection.ask(), /^(HTTP\/1\.1 200|250)/, kinds[index])
    t.true(first.serials.includes(connection.certificate.serialNumber))
    connection.close()
  }
  t.is((await daemon.stop()).code, 0)
})

test('https listener: drains like http and has a separate self-signed certificate', async (t) => {
  await using folder = await temporaryFolder('https-drain')
  const { daemon, ports } = await serve(t, {}, folder.path)
  t.is(new Set(await shownSerials(ports)).size, 1)
  t.is((await shownSerials(ports))[0], new X509Certificate(await readFile(join(folder.path, 'data', 'tls', 'cert.pem'))).serialNumber)
  const [idle, silent] = await Promise.all([OpenConnection.open(ports, 'https'), OpenConnection.open(ports, 'https')])
  t.regex(await idle.ask(), /^HTTP\/1\.1 200/)
  process.kill(daemon.addresses.pid, 'SIGHUP')
  t.is((await daemon.stop()).code, 0)
  for (const connection of [idle, silent]) connection.close()
  t.notRegex(daemon.log, /did not stop in time/)
})
