/** Monitoring: each metric is documented, and Prometheus accepts alert rules and dashboard. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from '#test'
import { systemClock } from '#core/clock.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { reasonAgainst } from '../../support/peers/peer-packages.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const folder = 'daemon/packaging/observability'

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}
interface Dashboard {
  readonly panels: readonly Panel[]
  readonly annotations: { readonly list: readonly { readonly expr: string }[] }
  readonly templating: { readonly list: readonly { readonly query: string }[] }
}

const dashboard = JSON.parse(read(`${folder}/dashboard.json`)) as Dashboard
const expressions = [
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.annotations.list.map(({ expr }) => expr),
]

/** Metric names in a text, without the suffixes of histograms. */
const namesIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/\b(?:postern|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, '')))

test('metrics chapter: lists exactly the metrics of the daemon', async (t) => {
  const { rest } = await startDaemon(t, { replacements: { clock: systemClock } })
  const { bytes } = await rest.call('GET', '/metrics')
  const shown = [...bytes.toString('utf8').matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({ name, type }))
  t.true(shown.length > 40)
  const rows = read('admin-api/docs/metrics.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  const documented = rows.flatMap((line) => {
    const [, names = '', type = ''] = line.split('|')
    return [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ name, type: type.trim() }))
  })
  const byName = (list: typeof shown): string[] => list.map(({ name, type }) => `${name} ${type}`).toSorted()
  t.deepEqual(byName(documented), byName(shown))
  const known = new Set(shown.map(({ name }) => name))
  for (const file of ['alerts.yml', 'alerts.test.yml', 'dashboard.json'])
    t.deepEqual(
      [...namesIn(read(`${folder}/${file}`))].filter((name) => !known.has(name) && name !== 'process_start_time'),
      [],
      file,
    )
})

test("promtool: accepts alert rules with their tests, and the dashboard's expressions", async (t) => {
  if (reasonAgainst('prometheus') !== undefined) return t.fail(reasonAgainst('prometheus'))
  await using made = await temporaryFolder('promtool')
  const promtool = (...args: readonly string[]): string =>
    execFileSync('/usr/bin/promtool', args, { cwd: join(root, folder), encoding: 'utf8' })
  t.regex(promtool('check', 'rules', 'alerts.yml'), /SUCCESS: \d+ rules found/)
  t.regex(promtool('test', 'rules', 'alerts.test.yml'), /SUCCESS/)
  const alerts = [...read(`${folder}/alerts.yml`).matchAll(/alert: (\w+)/g)].length
  t.regex(read(`${folder}/alerts.test.yml`), new RegExp(`value: ${alerts - 1} `), 'all but one at once, and that one by itself')
  const rules = expressions.map((expr, i) => {
    const filled = expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'postern').replaceAll('$instance', '.*')
    return { record: `dashboard:${i}`, expr: filled }
  })
  const path = join(made.path, 'dashboard.json')
  await writeFile(path, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  t.regex(promtool('check', 'rules', path), new RegExp(`SUCCESS: ${rules.length} rules found`))
})

test('promtool: finds no problem in the metrics of the daemon', async (t) => {
  if (reasonAgainst('prometheus') !== undefined) return t.fail(reasonAgainst('prometheus'))
  const { rest } = await startDaemon(t, { replacements: { clock: systemClock } })
  const { bytes } = await rest.call('GET', '/metrics')
  const { status, stdout, stderr } = spawnSync('/usr/bin/promtool', ['check', 'metrics'], { input: bytes, encoding: 'utf8' })
  t.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
})

test('dashboard: panels do not overlap and show each of our metrics', (t) => {
  const places = dashboard.panels.map(({ title, gridPos }) => ({ title, ...gridPos }))
  const overlapping = places.flatMap((one, i) =>
    places.slice(i + 1).filter(({ x, y, w, h }) => x < one.x + one.w && one.x < x + w && y < one.y + one.h && one.y < y + h),
  )
  t.deepEqual(overlapping, [])
  const shown = namesIn([...expressions, ...dashboard.templating.list.map(({ query }) => query)].join(' '))
  const ours = [...namesIn(read('admin-api/docs/metrics.md'))].filter((name) => name.startsWith('postern_'))
  t.deepEqual(
    ours.filter((name) => !shown.has(name)),
    [],
  )
})
