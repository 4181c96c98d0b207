/** `postern logs`: the lines of one message, from a running daemon, a file and a journal; and SIGUSR2. */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from '#test'
import { Daemon, programOf, runCommand } from '../../support/daemon/daemon.ts'
import { waitFor } from '../../support/waits.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

test('postern logs: prints only the lines of the message', async (t) => {
  await using folder = await temporaryFolder('logs')
  const options = { folder: folder.path }
  await using daemon = await Daemon.start(options)
  const send = async (): Promise<string> =>
    String(
      (await daemon.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: ['b@inbox.test'], subject: 'x', text: 'y' }))['trace_id'],
    )
  const [traceId, other] = [await send(), await send()]
  const running = await runCommand(options, 'logs', '--trace', traceId.toUpperCase())
  t.is(running.code, 0, running.output)
  t.regex(
    running.output,
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} INFO  message accepted door=rest outcome=captured\.no_route project_id=prj_\S+ recipients=1\n$/,
  )
  const json = await runCommand(options, 'logs', '--json', '--trace', other)
  t.like(JSON.parse(json.output), { level: 'info', msg: 'message accepted', trace_id: other })

  const lines = await waitFor('the log is written', async () => (daemon.log.includes(other) ? daemon.log : undefined))
  const file = join(folder.path, 'postern.log')
  await writeFile(file, lines)
  t.is((await runCommand({ ...options, env: { POSTERN_LOG_LEVEL: 'wrong' } }, 'logs', '--trace', traceId, file)).output, running.output)
  const journal = lines
    .split('\n')
    .flatMap((line, n) => [`Nov 27 12:00:00 host postern[1]: ${line}`, JSON.stringify({ MESSAGE: n % 2 ? line : `no JSON ${traceId}` })])
  const { args, env } = programOf(options)
  const [command = '', ...rest] = args
  const piped = spawn(command, [...rest, 'logs', '--trace', traceId, '-'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  piped.stdin.end(`${journal.join('\n')}\n{"trace_id":"${traceId}"\n`)
  const printed = await text(piped.stdout)
  t.deepEqual([...new Set(printed.split('\n'))], running.output.split('\n'))

  const unknown = '0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0'
  const none = await runCommand(options, 'logs', '--trace', unknown)
  t.is(none.code, 1)
  t.regex(none.output, /^No log line contains 0f1e.* The daemon keeps only its latest lines\. Name the log file/)
  t.like(await runCommand(options, 'logs', '--trace', unknown, join(folder.path, 'missing')), { code: 1 })
  for (const wrong of [['logs'], ['logs', '--trace', 'x'], ['logs', '--trace', unknown, 'a', 'b']])
    t.is((await runCommand(options, ...wrong)).code, 64)

  process.kill(daemon.addresses.pid, 'SIGUSR2')
  await waitFor('the levels changed', async () => {
    await daemon.rest.must('GET', '/v1/inboxes')
    return /"levels":"debug"[^]*"level":"debug"[^\n]*"msg":"http request"/.test(daemon.log) || undefined
  })
  const outsider = await daemon.rest.call('GET', `/operator/log?trace_id=${traceId}`)
  t.is(outsider.status, 401)
})
