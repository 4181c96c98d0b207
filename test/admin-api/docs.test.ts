/** The chapters of `admin-api/docs/` and the README say what is so: their operations, settings, errors, numbers and examples. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from '#test'
import { planNames, plans } from '#config/plans/plans.ts'
import { settings } from '#config/settings/setting-list.ts'
import { noSettings, variableFor } from '#config/settings/environment.ts'
import { refusals } from '#core/refusals.ts'
import { adminKey, startDaemon } from '../support/daemon/start-daemon.ts'
import { siteSettings } from './sites/site-client.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const folder = 'admin-api/docs'
const chapters = globSync('**/*.md', { cwd: join(root, folder) }).map((name) => `${folder}/${name}`)
const pages = ['README.md', ...chapters].map((path) => ({ path, text: read(path) }))

/** A request of an example: what curl would send. */
interface Example {
  readonly path: string
  readonly method: string
  readonly target: string
  readonly body: string | undefined
}

/** The examples that a reader can send as they stand, with a key; those with a gap to fill in (`…`, `<id>`) are left out. */
function examples({ path, text }: { path: string; text: string }): Example[] {
  const shell = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1] ?? '').join('\n')
  const commands = shell.matchAll(/^curl\b(?:[^'"\n\\]|\\\n|"[^"]*"|'[^']*')*/gm)
  return [...commands].flatMap(([command]) => {
    const target = /http:\/\/127\.0\.0\.1:8080(\/v1[^\s"]*)/.exec(command)?.[1]
    if (target === undefined || !command.includes('Bearer $KEY') || /[<…$@](?!KEY)/.test(target)) return []
    const body = /(?:--json|-d) '([^']*)'/.exec(command)?.[1]
    if (body?.includes('…') || command.includes('--data-binary')) return []
    const method = /-X (\w+)/.exec(command)?.[1] ?? (body === undefined ? 'GET' : 'POST')
    return [{ path, method, target, body }]
  })
}

test('the index leads to every chapter', (t) => {
  const index = read(`${folder}/README.md`)
  t.deepEqual(
    chapters.filter(
      (path) => !path.endsWith('/README.md') && !path.includes('/errors/') && !index.includes(`](${path.slice(folder.length + 1)})`),
    ),
    [],
  )
})

test('chapters: examples that need a key link to its creation', (t) => {
  const silent = pages.filter(({ text }) => text.includes('$KEY') && !/^KEY=|\bgetting-started\.md\) shows where to get one/m.test(text))
  t.deepEqual(
    silent.map(({ path }) => path),
    [],
  )
})

test('chapters: every operation exists in the service', async (t) => {
  const { rest } = await startDaemon(t, { env: { POSTERN_OPERATOR_KEY: `svcop_${'o'.repeat(43)}` } })
  const { paths } = (await rest.must('GET', '/openapi.json')) as { paths: Record<string, Record<string, unknown>> }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => new RegExp(`^${method.toUpperCase()} ${path.replace(/\{[^}]+\}/g, '[^/]+')}$`)),
  )
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:GET|POST|PUT|PATCH|DELETE) \/(?:v1|share|operator)\/[^`\s?]*/g)].map(([name]) => ({ path, name })),
  )
  t.true(named.length > 30, String(named.length))
  t.deepEqual(
    named.filter(({ name }) => !operations.some((operation) => operation.test(name))),
    [],
  )
})

test('chapters: every variable is a setting', (t) => {
  const variables = new Set([...settings.map(({ path }) => variableFor(path)), ...noSettings])
  for (const { path, text } of pages) {
    t.deepEqual(
      [...new Set(text.match(/POSTERN_[A-Z_]+/g))].filter((name) => !variables.has(name)),
      [],
      path,
    )
  }
})

test('errors chapter: lists every code under its status', (t) => {
  const rows = [...read(`${folder}/errors.md`).matchAll(/^\| (\d{3}) +\| (.*) \|$/gm)]
  const told = rows.flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/\[`(\w+)`\]\(errors\/\1\.md\)/g)].map((match) => `${status} ${match[1]}`),
  )
  t.deepEqual(
    told.toSorted(),
    Object.entries(refusals)
      .map(([code, { http }]) => `${http} ${code}`)
      .toSorted(),
  )
})

test('error pages: one per code, with status, SMTP reply, causes and remedy', (t) => {
  for (const [code, { http, smtp, nextAction }] of Object.entries(refusals)) {
    const text = read(`${folder}/errors/${code}.md`)
    t.true(text.startsWith(`# ${code}\n\n`), code)
    t.true(
      text.includes(`\n**${String(http)}** · SMTP \`${smtp}\` · Next action \`${nextAction}\` · Repeat **`),
      `${code}: the line of facts`,
    )
    const sections = text.split(/^## (.*)$/m)
    t.deepEqual([sections[1], sections[3]], ['Why it happens', 'What to do'], code)
    t.true(
      [sections[2], sections[4]].every((section = '') => /^- \S/m.test(section)),
      code,
    )
    const [, response] = /```json title="Response"\n([^]*?)```/.exec(text) ?? []
    if (response === undefined) continue
    const { error } = JSON.parse(response) as { error: Record<string, unknown> }
    t.like(error, { code, next_action: nextAction })
  }
  const pagesOfErrors = globSync('errors/*.md', { cwd: join(root, folder) }).map((name) => name.slice('errors/'.length, -'.md'.length))
  t.deepEqual(pagesOfErrors.toSorted(), Object.keys(refusals).toSorted())
})

test('the chapter on configuration has the numbers of the plans', (t) => {
  const text = read(`${folder}/configuration.md`)
  const row = (label: string): string[] => {
    const line = text.split('\n').find((candidate) => candidate.startsWith(`| ${label}`)) ?? ''
    return line
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim())
  }
  const counted = {
    'Sends in a UTC day': 'sendsPerDay',
    'Traces stored': 'tracesStored',
    'Days that traces are kept': 'retentionDays',
    'SMTP credentials': 'smtpCredentials',
    'Team organizations': 'teamOrganizations',
    'Captures of a project in a month': 'capturesPerMonth',
    Templates: 'templates',
  } as const
  for (const [label, limit] of Object.entries(counted)) {
    t.deepEqual(
      row(label),
      planNames.map((name) => plans[name][limit]?.toLocaleString('en-US') ?? 'no limit'),
      label,
    )
  }
  const [tracking, large] = [row('Tracking and VERP'), row('Attachments, scheduled sends')]
  t.deepEqual(
    tracking,
    planNames.map((name) => (plans[name].tracking ? 'yes' : 'no')),
  )
  for (const feature of ['attachments', 'scheduledSends', 'bulkReplay', 'orgDestinations', 'subProjects'] as const) {
    t.deepEqual(
      large,
      planNames.map((name) => (plans[name][feature] ? 'yes' : 'no')),
      feature,
    )
  }
})

test('chapters: the service accepts every example unchanged', async (t) => {
  const sent = pages.flatMap((page) => examples(page))
  t.true(sent.length >= 15, `only ${sent.length} examples found`)
  const { addresses } = await startDaemon(t, { env: { POSTERN_INBOUND_DOMAIN: 'in.example.com', ...siteSettings } })
  for (const { path, method, target, body } of sent) {
    const response = await fetch(`http://${addresses.http}${target}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    })
    t.true(response.ok, `${path}: ${method} ${target} ${body ?? ''}: ${response.status} ${await response.text()}`)
  }
})
