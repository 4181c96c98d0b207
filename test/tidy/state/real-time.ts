/** Refuses real time, random values and changes of the process in modules of the exact lane and in their fixtures. */
import type { Source } from '../source.ts'

const refused: Readonly<Record<string, RegExp>> = {
  setTimeout: /\bsetTimeout\b/,
  setInterval: /\bsetInterval\b/,
  'timers/promises': /timers\/promises/,
  'Date.now': /\bDate\.now\b/,
  'new Date()': /\bnew Date\b(?!\([^)])/,
  'performance.now': /\bperformance\.now\b/,
  'process.hrtime': /\bprocess\.(?:hrtime|uptime)\b/,
  'Math.random': /\bMath\.random\b/,
  'AbortSignal.timeout': /\bAbortSignal\.timeout\b/,
  systemClock: /\bsystemClock\b/,
  'the time of the machine': /\b(?:machineTime|atMachineTime)\b/,
  waitFor: /\bwaitFor\(/,
  'process.env': /\bprocess\.env(?:\[[^\]]*\]|\.\w+)? (?:[?&|]{2})?= |delete process\.env|Object\.assign\(process\.env/,
  'process.chdir': /\bprocess\.chdir\b/,
  'process.exit': /\bprocess\.exit\b/,
}

const machine = 'the time of the machine'
const signature = 'the client signs its requests with the time of the machine'
const verified = 'the package compares a signature with the time of the machine'
const certificate = 'the certificate is compared with the time of the machine'

/** Allowed uses, as path and name, with the reason. */
const allowed: Readonly<Record<string, string>> = {
  [`test/admin-api/oauth/flows.test.ts ${machine}`]: verified,
  [`test/admin-api/rest/feedback/webhook-payloads.test.ts ${machine}`]: verified,
  'test/admin-api/sites/site-server.test.ts setInterval': 'a client sends an octet every 20 ms until the server closes the connection',
  [`test/admin-api/vendors/batches.test.ts ${machine}`]: signature,
  [`test/admin-api/vendors/clients.test.ts ${machine}`]: signature,
  [`test/admin-api/vendors/refusals.test.ts ${machine}`]: signature,
  [`test/admin-api/vendors/signatures.test.ts ${machine}`]: signature,
  [`test/admin-api/vendors/whole-messages.test.ts ${machine}`]: signature,
  [`test/contracts/vendor-contract.ts ${machine}`]: 'the double of a vendor compares with the time of the machine',
  [`test/core/domains/dkim-signature.test.ts ${machine}`]: verified,
  [`test/core/webhooks/delivery.test.ts ${machine}`]: verified,
  [`test/daemon/certificates/certificate.test.ts ${machine}`]: certificate,
  [`test/daemon/commands/doctor.test.ts ${machine}`]: 'the command compares the clock of the machine with time servers',
  'test/daemon/doctor/certificate-orders.test.ts waitFor': 'settled() does not count the order of a certificate',
  [`test/daemon/doctor/running.test.ts ${machine}`]: certificate,
  [`test/daemon/observability/frequent-line.test.ts ${machine}`]: 'log lines contain the time of the machine',
  'test/ingest/messages/message-reader.test.ts process.exit': 'code of a worker that ends its thread',
  'test/suite/waits.test.ts waitFor': 'tests waitFor()',
}

interface Use {
  readonly path: string
  readonly line: number
  readonly name: string
}

const usesIn = (sources: readonly Source[], exact: ReadonlySet<string>): readonly Use[] =>
  sources
    .filter(({ path }) => exact.has(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) =>
        Object.entries(refused)
          .filter(([, pattern]) => pattern.test(line))
          .map(([name]) => ({ path, line: index + 1, name })),
      ),
    )

/** Returns the uses in files of the exact lane that are not allowed. */
export const realTime = (sources: readonly Source[], exact: ReadonlySet<string>): string[] =>
  usesIn(sources, exact)
    .filter(({ path, name }) => !Object.hasOwn(allowed, `${path} ${name}`))
    .map(({ path, line, name }) => `${path}:${String(line)} ${name}: see "Waiting" in test/support/README.md`)

/** Returns the exceptions that no file uses. */
export function unusedExceptions(sources: readonly Source[], exact: ReadonlySet<string>): string[] {
  const used = new Set(usesIn(sources, exact).map(({ path, name }) => `${path} ${name}`))
  return Object.keys(allowed)
    .filter((exception) => !used.has(exception))
    .map((exception) => `${exception}: remove the exception from test/tidy/state/real-time.ts`)
}
