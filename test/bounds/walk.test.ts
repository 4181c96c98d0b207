import test, { type ExecutionContext } from '#test'
import { NameServer } from '../support/web/name-server.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { MeasuredDaemon } from './daemon.ts'
import { operatorKey } from './requests.ts'
import { told } from './summary.ts'
import { allowed, bounds, isBeyond, walk, walkEnvironment, type Walked } from './walk.ts'

/** Attacks all operations except six with bodies at their full limit. `npm run bounds -- --full` uses larger ones. */
const extent = { bodyBytes: 131_072, sessionBytes: 262_144, texts: 1 }

/** Number of parts of the walk, each short enough for a slow machine. */
const parts = 8
const nameOf = (what: string): string => what.slice(0, what.indexOf(':'))

/** Walks the chosen operations and compares their costs with the bounds. */
async function walkTo(t: ExecutionContext, choose: (served: readonly string[]) => readonly string[]): Promise<readonly Walked[]> {
  await using folder = await temporaryFolder('bounds')
  await using names = await NameServer.start({})
  await using measured = await MeasuredDaemon.start(folder.path, walkEnvironment(operatorKey, names))
  const chosen = new Set(choose((await measured.operations()).map(({ operationId }) => operationId)))
  const walked = await walk(measured, { ...extent, isWanted: (what) => chosen.has(nameOf(what)) })
  t.deepEqual(chosen.difference(new Set(walked.map(({ what }) => nameOf(what)))), new Set(), 'not walked')
  const [longest] = walked.toSorted((a, b) => b.piece - a.piece)
  const [dearest] = walked.toSorted((a, b) => b.all / allowed(b) - a.all / allowed(a))
  t.log(`${walked.length} attacks. Longest piece: ${longest && told(longest)}. Dearest: ${dearest && told(dearest)}`)
  t.deepEqual(walked.filter(isBeyond).map(told), [])
  return walked
}

for (let part = 1; part <= parts; part++)
  test(`operations: at most 1 s of processor time per MiB, short event loop turns: part ${part} of ${parts}`, async (t) => {
    await walkTo(t, (served) => served.filter((_, at) => at % parts === part - 1))
  })

test('mail commands: at most 1 s of processor time per MiB, short event loop turns', async (t) => {
  const walked = await walkTo(t, () => ['submission', 'mx'])
  const accepted = walked.filter(({ what, answer }) => what.includes('a message') && answer.includes('250 2.0.0 Ok'))
  t.true(accepted.length > 120, `${accepted.length} messages were accepted, so the following steps were measured`)
})

test('isBeyond(): detects high total costs and a blocked event loop', (t) => {
  const nothing = { bytes: 0, inflated: 0, records: 0, threads: 0, piece: 0, pace: 1 }
  t.false(isBeyond({ ...nothing, bytes: 1_048_576, all: bounds.request + bounds.mebibyte, piece: bounds.piece }))
  t.true(isBeyond({ ...nothing, bytes: 1_048_576, all: bounds.request + bounds.mebibyte + 1 }))
  t.false(isBeyond({ ...nothing, inflated: 1_048_576, all: bounds.request + bounds.inflated }))
  t.true(isBeyond({ ...nothing, inflated: 1_048_576, all: bounds.request + bounds.inflated + 1 }))
  t.false(isBeyond({ ...nothing, records: 1000, all: bounds.request + 1000 * bounds.record }))
  t.true(isBeyond({ ...nothing, records: 1000, all: bounds.request + 1000 * bounds.record + 1 }))
  t.false(isBeyond({ ...nothing, pace: 2, all: 2 * bounds.request, piece: 2 * bounds.piece }))
  t.true(isBeyond({ ...nothing, bytes: 25_000_000, all: 200, piece: bounds.piece + 1 }))
})
