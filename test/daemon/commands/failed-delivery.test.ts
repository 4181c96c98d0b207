/** The reason of a failed delivery in the log, in `postern logs --trace` and in `postern tail`. */
import { createInterface } from 'node:readline'
import test from '#test'
import { Daemon, runCommand, spawnCommand } from '../../support/daemon/daemon.ts'
import { makeDestination } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { waitFor, waiting } from '../../support/waits.ts'

test('log, postern logs, postern tail: show why a provider refused a recipient', async (t) => {
  await using folder = await temporaryFolder('failed')
  await using sink = await Sink.listen({
    script: { recipient: (to) => (to.startsWith('gone') ? `550 5.1.1 <${to}>: Recipient address rejected: User unknown` : undefined) },
  })
  const options = { folder: folder.path }
  await using daemon = await Daemon.start(options)
  const id = await makeDestination(daemon.rest, { name: 'Host', port: sink.port, mode: 'live' as const })
  const child = spawnCommand(options, 'tail')
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = async (to: readonly string[]): Promise<string> =>
    String(
      (await daemon.rest.must('POST', '/v1/messages', { from: 'shop@site.test', to, subject: 'x', text: 'y', destination_id: id }))[
        'trace_id'
      ],
    )

  // only the first line shows that the command has started to watch
  let isShown = false
  const first = lines.next().then(() => (isShown = true))
  await waitFor('tail shows a message', async () => {
    await send(['ann@inbox.test'])
    return isShown
  })
  await first
  const traceId = await send(['ann@inbox.test', 'gone@inbox.test'])
  let line = ''
  while (!line.includes(traceId) || !/ attempt +failed/.test(line)) line = String((await waiting('a line of tail', lines.next())).value)
  t.regex(
    line,
    /^\d\d:\d\d:\d\d\.\d{3} attempt +failed 550 5\.1\.1 <gone@inbox\.test>: Recipient address rejected: User unknown .*recipient=gone@inbox\.test .*trace_id=\S{36}/,
  )

  const logged = await waitFor('the log says why', async () => {
    const found = daemon.log.split('\n').find((one) => one.includes(traceId) && one.includes('delivery attempt failed'))
    return found === undefined ? undefined : (JSON.parse(found) as Record<string, unknown>)
  })
  t.like(logged, {
    level: 'warn',
    verdict: 'permanent',
    recipient: '***@inbox.test',
    reply_code: 550,
    enhanced_status: '5.1.1',
    reason: '<***@inbox.test>: Recipient address rejected: User unknown',
    destination_id: id,
  })
  t.notRegex(daemon.log, /gone@|ann@/, 'no address of a recipient is logged')
  const { output } = await runCommand(options, 'logs', '--trace', traceId)
  t.regex(
    output,
    /WARN +delivery attempt failed .*recipient=\*\*\*@inbox\.test .*reply_code=550 enhanced_status=5\.1\.1 reason=<\*\*\*@inbox\.test>: Recipient/,
  )
})
