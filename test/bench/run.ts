/** `npm run bench`: Postern and Postfix with the same work in the same run, ratios compared with goals, and a JSON file of all figures. */
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { measureAliases } from './sections/aliases.ts'
import { measureBacklog } from './sections/backlog.ts'
import { measureDashboard } from './sections/dashboard.ts'
import { measureFairness } from './fairness.ts'
import { measureForms } from './sections/forms.ts'
import { measureHandshakes } from './sections/handshakes.ts'
import { measureIdle } from './sections/idle.ts'
import { measureIntake } from './sections/intake.ts'
import { measureLogs } from './sections/logs.ts'
import { measureLookup } from './sections/lookup.ts'
import { measureMemory } from './memory.ts'
import { readOptions, type BenchOptions, type SectionName } from './options.ts'
import { measureMcp } from './sections/mcp.ts'
import { measureRelay } from './sections/relay.ts'
import { measureRest } from './sections/rest-intake.ts'
import type { Section } from './results.ts'
import { measureScale } from './sections/scale.ts'
import { measureWebsites } from './sections/websites.ts'
import { measureWaits } from './sections/waits.ts'
import { reasonAgainst } from '../support/peers/peer-packages.ts'

const measures: Readonly<Record<SectionName, (options: BenchOptions) => Promise<Section>>> = {
  intake: measureIntake,
  relay: measureRelay,
  rest: measureRest,
  backlog: measureBacklog,
  lookup: measureLookup,
  idle: measureIdle,
  memory: measureMemory,
  logs: measureLogs,
  wait: measureWaits,
  handshakes: measureHandshakes,
  mcp: measureMcp,
  dashboard: measureDashboard,
  forms: measureForms,
  aliases: measureAliases,
  scale: measureScale,
  websites: measureWebsites,
  fairness: measureFairness,
}

/** A failed section counts as a missed goal. The other sections still run. */
const broken = (name: SectionName, error: unknown): Section => ({
  name,
  lines: [`${name} could not be measured: ${error instanceof Error ? error.message : String(error)}`],
  verdicts: [{ goal: `${name} can be measured`, value: 'no', met: false }],
  data: undefined,
})

const options = readOptions(process.argv.slice(2))
const missing = reasonAgainst('postfix') ?? reasonAgainst('dovecot')
if (missing !== undefined) {
  console.error(`The benchmark compares with Postfix, whose logins Dovecot checks; it needs ${missing}.`)
  process.exit(2)
}

const machine = {
  processors: `${String(cpus().length)} x ${cpus()[0]?.model ?? 'unknown'}`,
  memoryGibibytes: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  postfix: execFileSync('/usr/sbin/postconf', ['-d', '-h', 'mail_version'], { encoding: 'utf8' }).trim(),
}
console.log(`${machine.processors}, ${String(machine.memoryGibibytes)} GiB, Node ${machine.node}, Postfix ${machine.postfix}`)
console.log('Figures are of this machine and this hour; only ratios within one run say something.\n')

const sections: Section[] = []
for (const name of options.only) {
  const begun = performance.now()
  const section = await measures[name](options).catch((error: unknown): Section => broken(name, error))
  sections.push(section)
  console.log(`${section.lines.join('\n')}\n(${name}: ${Math.round((performance.now() - begun) / 1000)} s)\n`)
}

console.log('Goals')
for (const { goal, value, met } of sections.flatMap(({ verdicts }) => verdicts))
  console.log(`  ${met ? 'met   ' : 'missed'}  ${goal}: ${value}`)
await writeFile(options.output, `${JSON.stringify({ at: new Date().toISOString(), machine, options, sections }, null, 2)}\n`)
console.log(`\nAll figures: ${options.output}`)
