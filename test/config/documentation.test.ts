/** Every setting is documented and has a variable, and the generated files are current. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { variableFor } from '#config/settings/environment.ts'
import { generated } from '#config/generate-example.ts'
import { loadConfig } from '#config/settings/load.ts'
import { settings } from '#config/settings/setting-list.ts'

test('generated() example.json and settings.md are current', async (t) => {
  for (const [name, text] of await generated()) {
    const written = await readFile(join(import.meta.dirname, '../../config', name), 'utf8')
    t.is(written, text, `run node config/generate-example.ts: ${name} is old`)
  }
})

test('settings: each one has a description, a limit, a default and a variable', (t) => {
  t.true(settings.length > 30)
  const owners = new Map<string, string>()
  for (const { path, description, limit, fallback } of settings) {
    const name = path.join('.')
    t.regex(description, /^[A-Z].{10,}\.$/, name)
    t.regex(limit, /^[a-z0-9].{5,}$/, name)
    t.not(fallback, undefined, name)
    const variable = variableFor(path)
    t.regex(variable ?? '', /^POSTERN_[A-Z_]+$/, name)
    if (!name.startsWith('outbound.allow.')) t.false(owners.has(variable ?? ''), `${variable} has two settings`)
    owners.set(variable ?? '', name)
  }
})

test('settings: keys are secret', (t) => {
  const secret = settings.filter((setting) => setting.secret).map(({ path }) => path.join('.'))
  t.deepEqual(secret, [
    'adminKey',
    'operatorKey',
    'masterKey',
    'inboxNotifySecret',
    'acme.eabKey',
    'sendmail.key',
    'doctor.webhookSecret',
    'otlp.headers',
    'store.address',
    'store.objects',
  ])
})

test('settings: refuse values above their limits', (t) => {
  for (const { path, limit } of settings) {
    const bounds = /^a whole number from (\d+) to (\d+)$/.exec(limit)
    if (!bounds) continue
    const variable = variableFor(path)!
    const load = (value: number) => loadConfig({ env: { [variable]: String(value) }, readFile: () => '' })
    t.notThrows(() => load(Number(bounds[1])))
    t.notThrows(() => load(Number(bounds[2])))
    t.throws(() => load(Number(bounds[2]) + 1), { message: `${variable} must be ${limit}.` })
    if (Number(bounds[1]) > 0) t.throws(() => load(Number(bounds[1]) - 1), { message: `${variable} must be ${limit}.` })
  }
})
