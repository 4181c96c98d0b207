/** Invalid values of arguments: each command names the argument, the expected form and its help, and exits with 64. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { Daemon, runCommand } from '../../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'

/** The arguments, the argument in the output, and the form in the output. LIST and PAGE are files. */
const wrong: readonly (readonly [args: string, argument: RegExp, form: RegExp])[] = [
  ['setup --public maybe', /--public/, /yes or no/],
  ['setup --certificate mine', /--certificate/, /acme, files or proxy/],
  ['setup --email ada', /--email/, /ada@example\.com/],
  ['setup --domain a..b', /--domain/, /example\.com/],
  ['setup --host x', /--host/, /mail\.example\.com/],
  ['setup --url ftp://x', /--url/, /https:\/\/mail\.example\.com/],
  ['capture --expect foo', /foo/, /to=ada@example\.com/],
  ['capture --smtp-port x', /--smtp-port/, /whole number/],
  ['capture --http-port 99999', /--http-port/, /up to 65535/],
  ['capture --wait soon', /--wait/, /whole number/],
  ['import suppressions LIST --kind foo', /--kind/, /one of/],
  ['import suppressions LIST --from foo', /--from/, /one of/],
  ['import suppressions LIST --from-row x', /--from-row/, /./],
  ['import templates PAGE --from foo', /--from/, /one of/],
  ['import x', /"x"/, /Use suppressions, templates/],
  ['key create x --scope foo', /--scope/, /one of/],
  ['key create x --send-only --failure-notices foo', /--failure-notices/, /one of/],
  ['key create x --send-only --failure-notice-to ada', /--failure-notice-to/, /admin@example\.org/],
  ['key create x --expires-at soon', /--expires-at/, /2026|RFC 3339/],
  ['send --from a --to b@site.test --text x', /--from/, /address/],
  ['send --from a@site.test --to b --text x', /--to/, /address/],
  ['send --from a@site.test --to b@site.test --text x --url nowhere', /--url/, /http:\/\/127/],
  ['send --from a@site.test --to b@site.test --text x --url http://127.0.0.1:1 --key a\u00e9', /--key/, /svckey_/],
  ['queue hold --older-than soon', /--older-than/, /30m/],
  ['queue list --attempts x', /--attempts/, /whole number/],
  ['queue lst', /"lst"/, /list/],
  ['login-link ada', /"ada"/, /ada@example\.com/],
  ['logs --trace x', /--trace/, /trace id/],
  ['migrate --from /nodir --to /elsewhere', /--from/, /data folder/],
  ['migrate --from DATA --to DATA', /--from and --to/, /same store/],
  ['migrate --from DATA --to /elsewhere --ahead', /--ahead/, /database/],
  ['restore b', /--into/, /empty folder/],
  ['serve --ready-file=', /--ready-file/, /path/],
  ['operator plan org_1 nonsense', /PLAN/, /one of/],
  ['operator limit org_1 nonsense', /NAME=VALUE/, /NAME=VALUE/],
]

test('wrong value: the error names argument, form and help; exit code 64', async (t) => {
  await using folder = await temporaryFolder('wrong-values')
  const options = { folder: folder.path, env: { POSTERN_OPERATOR_KEY: `svcop_${'k'.repeat(43)}` } }
  await using daemon = await Daemon.start(options)
  t.true(daemon.adminKey.length > 0)
  const files: Readonly<Record<string, string>> = {
    LIST: join(folder.path, 'list.csv'),
    PAGE: join(folder.path, 'page.html'),
    DATA: join(folder.path, 'data'),
  }
  await writeFile(files['LIST'] ?? '', 'status,reason,email,created\n5.1.1,no,a@x.ch,1700000000\n')
  await writeFile(files['PAGE'] ?? '', '<p>Hello</p>')
  const unlike: string[] = []
  for (const [line, argument, form] of wrong) {
    const args = line.split(' ').map((word) => files[word] ?? word)
    const { code, output } = await runCommand(options, ...args)
    const isNamed = argument.test(output) && form.test(output) && output.endsWith(` Try postern ${args[0]} --help.\n`)
    if (code !== 64 || !isNamed || /\n +at |FILE/.test(output)) unlike.push(`${line} (${code}): ${output}`)
  }
  t.deepEqual(unlike, [])
})

test('unreadable list: the error names the file; exit code 1', async (t) => {
  await using folder = await temporaryFolder('wrong-files')
  const options = { folder: folder.path }
  await using daemon = await Daemon.start(options)
  t.true(daemon.adminKey.length > 0)
  const list = join(folder.path, 'q.csv')
  await writeFile(list, 'what,is,this\n1,2,3\n')
  const { code, output } = await runCommand(options, 'import', 'suppressions', list)
  t.is(code, 1, output)
  t.true(output.startsWith(`${list}: `), output)
})
