/**
 * Dialogs with the MX server as data, in the form of `test/protocols/dialogs/dialog.ts`. `{anna}`, `{ben}` and similar
 * names are the `names` of `mx-fixture.ts`. Additional lines:
 *
 *     @ limit maxRecipients 2    as in `dialog.ts`; also mails, the limit of the postmaster's mailbox
 *     @ feedback fails           the core fails to store
 *     @ admission overloaded     the core accepts no mail
 *     == reported anna bounced null, report that the core received: return path, type, null reverse-path or sender
 *     == outcome dsn recorded    the kind of the last mail, and its outcome
 *     == kept 1                  mails in the postmaster's mailbox
 *     == box Subject: x          the last of these mails contains this text
 *     == defects 1               unexpected errors; none by default
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from '#test'
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import { parseDialog, playLines } from '../dialogs/dialog.ts'
import { startFixture, type Fixture } from './mx-fixture.ts'

const folder = fileURLToPath(new URL('dialogs/', import.meta.url))

async function play(t: ExecutionContext, text: string): Promise<void> {
  const marked = parseDialog(text)
  const settings = marked.filter(({ mark }) => mark === '@').map((line) => line.text.split(' '))
  const valueOf = (what: string, name: string): string | undefined => settings.find(([one, two]) => one === what && two === name)?.[2]
  const limits = Object.fromEntries(settings.filter(([what]) => what === 'limit').map(([, name = '', value]) => [name, Number(value)]))
  const mails = valueOf('limit', 'mails')
  const code = settings.find(([what]) => what === 'admission')?.[1]
  const refuse = (): void => {
    if (code !== undefined) throw new Refusal(code as RefusalCode, 'Not now.')
  }
  const fixture = await startFixture(t, {
    limits,
    ...(mails !== undefined && { box: { mails: Number(mails), octets: 1_000_000 } }),
    admission: { check: refuse },
  })
  if (settings.some(([what]) => what === 'feedback')) fixture.feedback.failure = new Error('secret detail')
  const lines = marked.map((line) => ({
    ...line,
    text: line.text.replaceAll(/\{([\w-]+)\}/g, (whole, name: string) => fixture.names[name] ?? whole),
  }))
  await playLines(t, lines, await fixture.connect(), (what, value, at) => check(t, fixture, what, value, at))
  if (!lines.some((line) => line.text.startsWith('defects '))) t.deepEqual(fixture.events.defects, [])
}

async function check(t: ExecutionContext, { feedback, events, kept }: Fixture, what: string, value: string, at: string): Promise<void> {
  const last = events.receptions.at(-1)
  const mails = await kept()
  const found: Record<string, () => string> = {
    reported: () =>
      feedback.taken.map(({ origin, events: [event] }) => describe(origin.returnPath, event?.type, origin.hasNullSender)).join(', '),
    outcome: () => [last?.kind, ...(last?.outcomes.map(({ result }) => result) ?? [])].join(' '),
    kept: () => String(mails.length),
    defects: () => String(events.defects.length),
  }
  if (what === 'box') t.true(mails.at(-1)?.includes(value), `${at}: ${mails.at(-1)}`)
  else if (found[what]) t.is(found[what](), value, at)
  else throw new Error(`${at}: unknown step ${what}`)
}

const describe = (...parts: readonly [string | undefined, string | undefined, boolean | undefined]): string => {
  const [returnPath, type, hasNullSender] = parts
  return `${returnPath ?? '-'} ${type} ${hasNullSender ? 'null' : 'sender'}`
}

for (const file of readdirSync(folder))
  test(`MxServer dialog ${file.replace('.smtp', '')}`, (t) => play(t, readFileSync(folder + file, 'utf8')))
