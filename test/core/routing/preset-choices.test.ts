/** Presets to choose from: the suggestion by MX records, and the setting that a preset on a loopback address needs. */
import test from '#test'
import { presetOfExchange } from '#config/mail/preset-exchanges.ts'
import { findPreset } from '#config/mail/presets.ts'
import exchanges from '#config/mail/preset-exchanges.json' with { type: 'json' }
import { addressGuard, type AllowedRange } from '#core/outbound/address-guard.ts'
import { ResolveError } from '#core/outbound/resolver.ts'
import { PresetChoices } from '#core/routing/destinations/preset-choices.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { refusal, startFixture } from '../../admin-api/rest/fixture/rest-fixture.ts'

const path = '/v1/destinations/presets'

test('presets: domain marks the preset of its first MX host, with one lookup', async (t) => {
  const { rest, records } = await startFixture(t)
  const suggested = async (domain?: string) => {
    const { data } = await rest.must('GET', domain === undefined ? path : `${path}?domain=${domain}`)
    return (data as { id: string; suggested: boolean }[]).filter((preset) => preset.suggested).map(({ id }) => id)
  }
  t.deepEqual(await suggested(), [])
  t.is(records.looked, 0)
  records.mx.set('alpenblick.example', [
    { exchange: 'backup.example.ch', priority: 20 },
    { exchange: 'MTA-GW.Infomaniak.ch.', priority: 5 },
  ])
  t.deepEqual(await suggested('Alpenblick.example'), ['infomaniak'])
  t.is(records.looked, 1)
  records.mx.set('own.example', [{ exchange: 'notinfomaniak.ch', priority: 5 }])
  t.deepEqual(await suggested('own.example'), [])
  t.deepEqual(await suggested('nothing.example'), [])
  t.deepEqual(refusal(await rest.call('GET', `${path}?domain=a%20b`)), [
    400,
    'validation_failed',
    'domain: must be a domain name, such as example.ch',
  ])
})

test('presets: silent or failing name servers suggest nothing', async (t) => {
  const clock = new FakeClock()
  const silent = Promise.withResolvers<never>()
  const answers = [silent.promise, Promise.reject(new ResolveError('failed', 'SERVFAIL'))]
  const resolver = { resolveMx: () => answers.shift() ?? Promise.resolve([]) }
  const choices = new PresetChoices({ clock, resolver, guard: addressGuard([]) })
  const waiting = choices.list('alpenblick.example')
  clock.advance(2000)
  t.false((await waiting).some(({ isSuggested }) => isSuggested))
  t.false((await choices.list('alpenblick.example')).some(({ isSuggested }) => isSuggested))
})

test('presets: the longest suffix decides, and every row names a preset', (t) => {
  t.is(presetOfExchange('mx-aol.mail.gm0.yahoodns.net'), 'aol')
  t.is(presetOfExchange('mta5.am0.yahoodns.net'), 'yahoo')
  t.is(presetOfExchange('outlook-com.olc.protection.outlook.com'), 'outlook')
  t.is(presetOfExchange('example-ch.mail.protection.outlook.com'), 'microsoft365')
  t.is(presetOfExchange('net'), undefined)
  for (const { preset } of exchanges.exchanges) t.truthy(findPreset(preset), preset)
  const suffixes = exchanges.exchanges.flatMap((row) => row.suffixes)
  t.is(new Set(suffixes).size, suffixes.length)
})

test('presets: a loopback host names the setting that allows it', async (t) => {
  const clock = new FakeClock()
  const resolver = { resolveMx: async () => [] }
  const needed = async (allowed: readonly AllowedRange[]) => {
    const choices = await new PresetChoices({ clock, resolver, guard: addressGuard(allowed) }).list()
    return choices.filter(({ neededSetting }) => neededSetting !== null).map(({ id, neededSetting }) => [id, neededSetting])
  }
  t.deepEqual(await needed([]), [['mailpit', 'POSTERN_OUTBOUND_ALLOW=destinations=127.0.0.1:1025']])
  t.deepEqual(await needed([{ cidr: '127.0.0.1/32', port: 1025 }]), [])
})
