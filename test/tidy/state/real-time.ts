/** Refuses real time, random values and changes of the process in modules of the exact lane. */
import type { TestLane } from '../../suite/lanes.ts'
import type { Source } from '../source.ts'

const refused: Readonly<Record<string, RegExp>> = {
  setTimeout: /\bsetTimeout\b/,
  setInterval: /\bsetInterval\b/,
  'timers/promises': /timers\/promises/,
  'Date.now': /\bDate\.now\b/,
  'new Date()': /\bnew Date\(\)/,
  'performance.now': /\bperformance\.now\b/,
  'Math.random': /\bMath\.random\b/,
  'AbortSignal.timeout': /\bAbortSignal\.timeout\b/,
  'process.env': /\bprocess\.env(?:\[[^\]]*\]|\.\w+) = |delete process\.env/,
  'process.chdir': /\bprocess\.chdir\b/,
  'process.exit': /\bprocess\.exit\b/,
}

const machine = 'a package or a peer compares with the clock of the machine'
const worker = 'text of a worker'
const held = 'how long a synchronous piece of work takes'
const turns = 'turns of the loop, no time'

/** Allowed uses, as path and name, with the reason. */
const allowed: Readonly<Record<string, string>> = {
  'test/admin-api/bodies/frozen.test.ts performance.now': held,
  'test/admin-api/graphql/door.test.ts performance.now': 'a deadline that ends a running query asks the machine',
  'test/admin-api/mcp/live.test.ts timers/promises': turns,
  'test/admin-api/mcp/registry.test.ts performance.now': held,
  'test/admin-api/oauth/flows.test.ts Date.now': machine,
  'test/admin-api/rest/every-operation/held-commits.test.ts performance.now': 'a clock that jumps while a commit is held',
  'test/admin-api/rest/every-operation/held-commits.test.ts setInterval': 'a clock that jumps while a commit is held',
  'test/admin-api/sites/site-server.test.ts setInterval': 'a client that sends an octet now and then until the server ends it',
  'test/admin-api/vendors/batches.test.ts Date.now': machine,
  'test/admin-api/vendors/beyond-one-mail.test.ts Date.now': machine,
  'test/admin-api/vendors/others-mail.test.ts Date.now': machine,
  'test/admin-api/vendors/signatures.test.ts Date.now': machine,
  'test/admin-api/vendors/signatures.test.ts new Date()': machine,
  'test/core/domains/dkim-signature.test.ts Date.now': machine,
  'test/core/webhooks/delivery.test.ts Date.now': machine,
  'test/daemon/certificates/certificate.test.ts Date.now': machine,
  'test/daemon/commands/doctor.test.ts Date.now': machine,
  'test/daemon/doctor/running.test.ts Date.now': machine,
  'test/daemon/observability/frequent-line.test.ts Date.now': 'lines have the time of the machine',
  'test/daemon/observability/verify-gently.test.ts performance.now': held,
  'test/daemon/process/quiet-memory.test.ts timers/promises': turns,
  'test/flows/live/events.test.ts Date.now': machine,
  'test/ingest/authentication/mail-authentication.test.ts setTimeout': worker,
  'test/ingest/inspect/thread-scorer.test.ts setInterval': worker,
  'test/ingest/messages/message-reader.test.ts process.env': 'a worker must not get it; taken back by the test',
  'test/ingest/messages/message-reader.test.ts process.exit': worker,
  'test/ingest/messages/message-rewriter.test.ts process.exit': worker,
  'test/ingest/threads/parser-pool.test.ts setTimeout': worker,
  'test/protocols/reception/package-internals.test.ts performance.now': held,
  'test/protocols/reception/package-internals.test.ts setTimeout': 'text of a package',
  'test/protocols/relay/deadlines.test.ts timers/promises': turns,
  'test/store/ordered-commits.test.ts timers/promises': turns,
}

/** Returns the uses in modules of the exact lane that are not allowed. */
export const realTime = (sources: readonly Source[], laneOf: ReadonlyMap<string, TestLane>): string[] =>
  sources
    .filter(({ path }) => laneOf.get(path) === 'exact')
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) =>
        Object.entries(refused)
          .filter(([name, pattern]) => pattern.test(line) && !Object.hasOwn(allowed, `${path} ${name}`))
          .map(([name]) => `${path}:${String(index + 1)} ${name}: see "Waiting" in test/support/README.md`),
      ),
    )
