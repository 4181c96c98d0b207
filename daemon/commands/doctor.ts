/** `postern doctor`: lists problems of the machine, the configuration and the running daemon, with a remedy for each. */
import type { Config } from '#config/settings/load.ts'
import { inOrder, isAlarming, inWords, reportedName, type ReportedFinding } from '#core/doctor/report.ts'
import { observed } from '#core/findings/finding.ts'
import { doctorPath } from '../../admin-api/operator/operator-doctor.ts'
import { examineMachine, type MachineCheck } from '../doctor/machine.ts'
import { machineName } from '../doctor/process-check.ts'
import { cleanText } from '../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { runningDaemon } from '../process/operator-file.ts'
import { Unreadable } from '../process/unreadable.ts'
import { brokenReport, callDaemon } from './daemon-client.ts'

interface Examined {
  readonly machine: readonly MachineCheck[]
  /** Findings of the daemon; undefined if no daemon could be called. */
  readonly service: readonly ReportedFinding[] | undefined
}

/** Prints the findings. Returns 1 if one of them is an error or a warning. */
export async function doctor(config: Config, asJson: boolean, out: { write(text: string): unknown }): Promise<ExitCode> {
  const examined = { machine: await examineMachine(config), service: await askDaemon(config.dataDir) }
  const findings = findingsOf(examined, config)
  const ok = !findings.some(isAlarming)
  if (asJson) out.write(`${JSON.stringify({ ok, findings: findings.map(shownOf) }, undefined, 2)}\n`)
  else out.write(asText(examined, config))
  return ok ? exitCodes.ok : exitCodes.failed
}

/** Returns undefined if no daemon runs, or if it belongs to another user. */
async function askDaemon(dataDir: string): Promise<readonly ReportedFinding[] | undefined> {
  const daemon = await runningDaemon(dataDir).catch((error: unknown) => {
    if (error instanceof Unreadable) return undefined // the machine check reports this
    throw error
  })
  if (!daemon) return undefined
  const response = await callDaemon(daemon, 'GET', doctorPath)
  try {
    return (JSON.parse(await response.text()) as { readonly findings: readonly ReportedFinding[] }).findings
  } catch (error) {
    throw brokenReport(error)
  }
}

const shownOf = ({ id, severity, organizationName, summary, fix }: ReportedFinding): object => ({
  ...{ id, severity },
  ...(organizationName !== undefined && { organization_name: organizationName }),
  ...{ summary, fix },
})

/** Identifies a finding of the service, of this machine or of one organization. At a shared store, the daemon names the machine. */
function nameOf(one: ReportedFinding, config: Config): string {
  const subject = one.subject === machineName(config) ? '' : one.subject
  return `${reportedName({ ...one, subject })} ${one.organizationName ?? ''}`
}

/** Removes duplicates: the daemon repeats some checks of the machine. */
function findingsOf({ machine, service }: Examined, config: Config): ReportedFinding[] {
  const all = [...machine.flatMap(({ findings }) => findings), ...(service ?? [alone(config.dataDir)])]
  return inOrder([...new Map(all.map((one) => [nameOf(one, config), one])).values()])
}

const alone = (dataDir: string): ReportedFinding => inWords(observed('daemon.not_running', '', { folder: dataDir }))

function asText({ machine, service }: Examined, config: Config): string {
  const lines = machine.map(({ check, ok, summary }) => `${ok ? 'ok  ' : 'BAD '} ${check}: ${cleanText(summary)}`)
  const known = new Set(machine.flatMap(({ findings }) => findings.map((one) => nameOf(one, config))))
  const own = (service ?? [alone(config.dataDir)]).filter((one) => !known.has(nameOf(one, config)))
  const found = own.map((one) => {
    const owner = one.organizationName === undefined ? '' : ` (${one.organizationName})`
    return `${isAlarming(one) ? 'BAD ' : 'note'} ${one.id}${cleanText(`${owner}: ${one.summary} ${one.fix}`)}`
  })
  if (service && !service.some(isAlarming)) found.unshift('ok   service: The running daemon accepts mail and reports no problems.')
  return `${[...lines, ...found].join('\n')}\n`
}
