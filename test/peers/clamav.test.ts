/** Debian's `clamd` as the scanner of form uploads, by socket and TCP, with a test signature. */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { Clamd } from '../../protocols/clamd/clamd.ts'
import type { ServiceAddress } from '#config/settings/formats.ts'
import { largePng, pdfWith, samples, testVirus } from '../core/forms/file-samples.ts'
import { waitFor } from '../support/waits.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { programPort } from '../support/network/program-port.ts'
import { testWith } from '../support/peers/peers.ts'

const test = testWith('clamav')
const worm = 'a worm of our own'

/** Starts clamd with configuration, signatures and socket in a separate folder. It stops with the test. */
async function startClamd(t: ExecutionContext): Promise<{ readonly path: string; readonly port: number }> {
  const folder = await temporaryFolder('clamd')
  const port = await programPort()
  const path = join(folder.path, 'clamd.ctl')
  const settings = [
    ...['Foreground yes', 'LocalSocketMode 666', `LocalSocket ${path}`, `TCPSocket ${port}`, 'TCPAddr 127.0.0.1'],
    ...[`DatabaseDirectory ${folder.path}`, 'StreamMaxLength 1M', 'MaxThreads 2', 'LogSyslog no'],
  ]
  await writeFile(join(folder.path, 'clamd.conf'), `${settings.join('\n')}\n`)
  const signatures = [`Postern.Worm:0:*:${Buffer.from(worm).toString('hex')}`, `Test.Eicar:0:*:${testVirus.toString('hex')}`]
  await writeFile(join(folder.path, 'own.ndb'), `${signatures.join('\n')}\n`)
  const clamd = spawn('/usr/sbin/clamd', ['--config-file', join(folder.path, 'clamd.conf')], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [clamd.stdout, clamd.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  t.teardown(async () => {
    clamd.kill('SIGKILL')
    await folder[Symbol.asyncDispose]()
  })
  const octets = () => of(samples.png)
  await waitFor('clamd answers', async () => {
    if (clamd.exitCode !== null) throw new Error(output)
    return new Clamd({ address: { path } }).scan(octets()).catch(() => undefined)
  })
  return { path, port }
}

async function* of(file: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += 100_000) yield file.subarray(at, at + 100_000)
}

test('clamd: finds known signatures by socket and TCP, and reports refused files', async (t) => {
  const { path, port } = await startClamd(t)
  const places: readonly ServiceAddress[] = [{ path }, { host: '127.0.0.1', port }]
  for (const address of places) {
    const clamd = new Clamd({ address })
    t.deepEqual(await clamd.scan(of(samples.pdf)), { virus: null })
    t.deepEqual(await clamd.scan(of(largePng(900_000))), { virus: null })
    t.deepEqual(await clamd.scan(of(pdfWith(Buffer.from(worm)))), { virus: 'Postern.Worm.UNOFFICIAL' })
    t.regex(String((await clamd.scan(of(pdfWith(testVirus)))).virus), /eicar/i)
    const error = await t.throwsAsync(clamd.scan(of(largePng(3_000_000))))
    t.is(error?.name, 'ScanFailed')
  }
})
