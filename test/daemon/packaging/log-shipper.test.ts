/** The log shipper with Debian's Postfix: each log line reaches the traces once, also after rotations and outages. */
import { execFile } from 'node:child_process'
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { waitFor } from '../../support/waits.ts'
import { Daemon } from '../../support/daemon/daemon.ts'
import { makeDestination } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { Postfix } from '../../peers/postfix.ts'

const shipper = fileURLToPath(new URL('../../../daemon/packaging/log-shippers/postern-log-shipper', import.meta.url))

const ship = async (conf: string): Promise<{ code: number; stderr: string }> =>
  promisify(execFile)('/bin/sh', [shipper, conf]).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: unknown) => error as { code: number; stderr: string },
  )

const replyTo = (recipient: string): string | undefined => (recipient.startsWith('refuse') ? '550 5.1.1 Nobody of that name' : undefined)

testWith('postfix', 'curl')('log shipper: sends the Postfix log to the traces', async (t) => {
  await using outer = await temporaryFolder('shipper-postfix')
  await using folder = await temporaryFolder('shipper')
  await using sink = await Sink.listen({ script: { recipient: replyTo } })
  await using postfix = await Postfix.start({ folder: outer.path, settings: { relayhost: `[127.0.0.1]:${String(sink.port)}` } })
  await using daemon = await Daemon.start({ folder: folder.path })
  const { rest } = daemon
  const destination = await makeDestination(rest, { name: 'Postfix', port: postfix.port, mode: 'live' })
  const traces: string[] = []
  for (const name of ['ada', 'refuse']) {
    const message = { from: 'shop@site.test', to: `${name}@shop.test`, subject: name, text: 'Hello', destination_id: destination }
    traces.push(String((await rest.must('POST', '/v1/messages', message))['trace_id']))
  }
  const log = await waitFor('Postfix is done with both', async () => {
    const text = await postfix.log()
    return /to=<ada@shop\.test>.*status=sent/.test(text) && /to=<refuse@shop\.test>.*status=bounced/.test(text) ? text : undefined
  })
  const source = await rest.must('POST', '/v1/ingest-sources', { provider: 'postfix', label: 'mx1' })
  const url = (http: string): string => String(source['webhook_url']).replace(/^https?:\/\/[^/]+/, `http://${http}`)
  const [conf, own] = [join(folder.path, 'shipper.conf'), join(folder.path, 'mail.log')]
  const configure = (http: string): Promise<void> =>
    writeFile(
      conf,
      `URL='${url(http)}'\nSECRET='${String(source['hmac_secret'])}'\nLOG='${own}'\nSTATE='${folder.path}/state'\nCHUNK=700\n`,
    )
  const place = (): Promise<string> => readFile(join(folder.path, 'state/place'), 'utf8')
  const statuses = (): Promise<unknown[]> => Promise.all(traces.map(async (id) => (await rest.must('GET', `/v1/traces/${id}`))['status']))

  t.is((await ship(join(folder.path, 'nowhere'))).code, 78)
  await configure('127.0.0.1:1')
  await writeFile(own, log.slice(0, log.length - 40))
  const away = await ship(conf)
  t.is(away.code, 75)
  t.regex(away.stderr, /cannot be reached; the same lines are sent by the next run/)
  await configure(daemon.addresses.http)
  t.deepEqual(await ship(conf), { code: 0, stderr: '' })
  const [, octets] = (await place()).split(' ').map(Number)
  t.is(octets, Buffer.byteLength(log.slice(0, log.lastIndexOf('\n', log.length - 41) + 1)), 'a line that is still written waits')

  await appendFile(own, log.slice(log.length - 40))
  await rename(own, `${own}.1`)
  await writeFile(own, '')
  t.deepEqual(await ship(conf), { code: 0, stderr: '' }, 'the end of the rotated log is sent first')
  await waitFor('the traces have their status', async () => ((await statuses()).join() === 'delivered,bounced' ? true : undefined))
  await appendFile(own, log)
  t.deepEqual(await ship(conf), { code: 0, stderr: '' })
  t.is(await place().then((text) => Number(text.split(' ')[1])), Buffer.byteLength(log))
  t.deepEqual(await statuses(), ['delivered', 'bounced'], 'repeated lines count once')

  await writeFile(conf, (await readFile(conf, 'utf8')).replace(/SECRET='\w+'/, "SECRET='wrong'"))
  await appendFile(own, log)
  const refused = await ship(conf)
  t.is(refused.code, 75)
  t.regex(refused.stderr, /said 401: .*invalid_signature/)
})
