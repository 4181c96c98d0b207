/** Arguments of the command line and the commands that they form. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { commandHelp, helpText } from '../../../daemon/commands/command-help.ts'
import { parseCommandLine } from '../../../daemon/commands/command-line.ts'

const parse = (line: string) => parseCommandLine(line.split(' ').filter((word) => word !== ''))

test('parseCommandLine() reads every command', (t) => {
  t.deepEqual(parse('serve'), { name: 'serve', readyFile: undefined })
  t.deepEqual(parse('serve --ready-file /run/p.json'), { name: 'serve', readyFile: '/run/p.json' })
  t.deepEqual(parse('--ready-file=/run/p.json serve'), { name: 'serve', readyFile: '/run/p.json' })
  t.deepEqual(parse('config'), { name: 'config' })
  t.deepEqual(parse('doctor'), { name: 'doctor', asJson: false })
  t.deepEqual(parse('doctor --json'), { name: 'doctor', asJson: true })
  t.deepEqual(parse('verify'), { name: 'verify', file: undefined, passphraseFile: undefined, acceptsLosses: false })
  t.like(parse('verify --accept-losses'), { file: undefined, acceptsLosses: true })
  t.like(parse('verify b --passphrase-file p'), { file: 'b', passphraseFile: 'p' })
  t.deepEqual(parse('backup - --since a'), { name: 'backup', args: { file: '-', since: 'a', passphraseFile: undefined, force: false } })
  t.deepEqual(parse('restore a b --into c'), { name: 'restore', args: { files: ['a', 'b'], into: 'c', passphraseFile: undefined } })
  t.like(parse('queue drop --to-domain a.ch --trace x --trace y --yes'), {
    name: 'queue',
    args: { verb: 'drop', filter: { to_domain: 'a.ch', trace_ids: ['x', 'y'] }, isConfirmed: true },
  })
  t.deepEqual(parse('login-link ada@example.ch'), { name: 'login-link', email: 'ada@example.ch', next: undefined })
  t.like(parse('login-link ada@example.ch --next /traces?q=a'), { next: '/traces?q=a' })
  t.deepEqual(parse('--help'), { name: 'help', text: helpText })
  const names = [
    'serve',
    'send',
    'tail',
    'key',
    'queue',
    'login-link',
    'backup',
    'restore',
    'verify',
    'doctor',
    'setup',
    'config',
    'licenses',
    'operator',
  ]
  for (const name of names) {
    const command = parse(`${name} --help`)
    t.is(command.name, 'help')
    if (command.name === 'help') t.regex(command.text, new RegExp(`^Usage: postern ${name}`))
  }
  for (const line of ['help', 'help --help', 'help help']) t.deepEqual(parse(line), { name: 'help', text: helpText })
  for (const name of names) t.deepEqual(parse(`help ${name}`), parse(`${name} --help`))
  t.deepEqual(parse('help key create'), parse('key --help'))
  t.deepEqual(parse('key -h'), { name: 'help', text: commandHelp('key') })
  t.deepEqual(parse('--version'), { name: 'version' })
})

test('parseCommandLine(): explains wrong arguments', (t) => {
  const wrong: readonly [string, RegExp][] = [
    [
      '',
      /^The command is missing\. Commands: serve, send, tail, logs, key, promote, import, queue, findings, deploy, login-link, backup, restore, migrate, verify, capture, doctor, setup, config, licenses, sendmail, operator\./,
    ],
    ['serv', /^"serv" is not a command\. Did you mean serve\?/],
    ['launch', /^"launch" is not a command\. Commands: serve,/],
    ['serve now', /^serve takes no "now"\./],
    ['verify --ready-file x', /--ready-file/],
    ['verify a b', /^verify takes one backup at a time\./],
    ['backup', /^backup needs a file/],
    ['restore a', /^restore needs --into and an empty folder\./],
    ['restore --into a', /^restore needs a backup\./],
    ['send --from a@b.ch', /^send needs --from and --to\./],
    ['key', /^key needs a subcommand \(create\), as in postern key create\./],
    ['key create', /^key needs a name for the key\./],
    ['key delete', /^key has no subcommand "delete"\. Use create\./],
    ['key revoke x', /^key has no subcommand "revoke"\. Use create\./],
    ['key creat x', /^key has no subcommand "creat"\. Did you mean create\?/],
    ['key create x y', /^key takes no "y"\./],
    ['key create x --send-only --scope api:admin', /^--scope and --send-only exclude each other/],
    ['help launch', /^"launch" is not a command\. Commands: serve,/],
    ['helpp', /Did you mean help\?/],
    ['import', /^import needs a subcommand \(suppressions, templates\), as in postern import suppressions\./],
    ['import templates', /^import needs a file\./],
    ['import templates x --list news', /^--list belongs to import suppressions\./],
    ['queue', /^queue needs a subcommand \(list, holds, hold, release, expedite, drop\), as in postern queue list\./],
    ['queue drop --yes', /^queue drop needs a filter option, or --all\./],
    ['queue hold --older-than soon', /^--older-than needs an age such as 30m/],
    ['deploy', /^deploy needs a folder\./],
    ['deploy public', /^deploy needs --site and the name of a website\./],
    ['queue list --yes', /^queue list takes no --yes\./],
    ['tail --key x', /--key/],
    ['serve --ready-file=', /^--ready-file needs a path\./],
    ['serve --ready-file', /--ready-file/],
    ['serve --port 1', /--port/],
    ['login-link', /^login-link needs a mail address\./],
    ['login-link a@b.ch c@d.ch', /^login-link takes no "c@d\.ch"\./],
    ['login-link a@b.ch --ready-file x', /--ready-file/],
    ['--help=yes', /^--help takes no value\./],
    [
      'send --bogus',
      /^Unknown option --bogus\. Options: --url, --key, --json, --from, --to, --subject, --text, --html, --help, --version\./,
    ],
    ['send --subjekt x', /^Unknown option --subjekt\. Did you mean --subject\?/],
    ['send -x', /^Unknown option -x\./],
    ['send --from', /^--from needs a value\. If the value begins with a hyphen, write --from=-VALUE\./],
    ['send --from --to a@b.ch', /^--from needs a value\./],
    ['send --json=yes', /^--json takes no value\./],
    ['operator plan', /^Usage: postern operator plan ORG PLAN\./],
    ['operator credits', /^Usage: postern operator credits ORG \[AMOUNT\]\./],
    ['operator sites a b', /^Usage: postern operator sites \[WORD\]\./],
    ['operator limit org_1', /^Usage: postern operator limit ORG NAME=VALUE\.\.\./],
    ['operator', /^operator needs a subcommand: organizations,/],
    ['operator --bogus', /^Unknown option --bogus\./],
  ]
  for (const [line, message] of wrong) {
    const command = parse(line)
    t.is(command.name, 'usage', line)
    if (command.name === 'usage') {
      t.regex(command.message, message)
      t.regex(command.message, / Try postern (?:\w[\w-]* )?--help\.$/)
    }
  }
})

test('help and documentation of each command list every option', (t) => {
  const chapter = readFileSync(new URL('../../../admin-api/docs/command-line.md', import.meta.url), 'utf8')
  const [, table = ''] = /^## Options$([^]*?)^## /m.exec(chapter) ?? []
  const documented = Object.fromEntries(
    [...table.matchAll(/^\| `([a-z-]+)[^|]* \| (.*) \|$/gm)].map(([, name = '', cell = '']) => [name, cell.match(/--[a-z-]+/g) ?? []]),
  )
  const unknown = parse('')
  const names = unknown.name === 'usage' ? (/Commands: (.*?)\./.exec(unknown.message)?.[1]?.split(', ') ?? []) : []
  for (const name of names.filter((other) => other !== 'sendmail')) {
    const wrong = parse(`${name} --bogus`)
    const options = wrong.name === 'usage' ? (wrong.message.match(/--[a-z-]+/g) ?? []) : []
    const own = options.filter((option) => !['--bogus', '--help', '--version'].includes(option))
    t.deepEqual((documented[name] ?? []).toSorted(), own.toSorted(), name)
    const help = parse(`${name} --help`)
    t.deepEqual(help.name === 'help' && own.filter((option) => !help.text.includes(option)), [], name)
  }
})

test('helpText: names every command', (t) => {
  for (const name of [
    'serve',
    'send',
    'tail',
    'key create',
    'login-link',
    'backup',
    'restore',
    'verify',
    'doctor',
    'setup',
    'config',
    'operator',
    '--help',
    '--version',
  ])
    t.true(helpText.includes(name))
})
