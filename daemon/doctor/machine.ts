/** Checks the machine and the configuration without a running daemon. */
import { randomUUID } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { formatEndpoint } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { certificateFindings, keyFindings, lagFindings, memoryFindings, nodeFindings } from '#core/doctor/process-findings.ts'
import { isAlarming, inWords, type ReportedFinding } from '#core/doctor/report.ts'
import { observed, type FindingParams, type Observed } from '#core/findings/finding.ts'
import { StoreUnavailable } from '#store/kv.ts'
import { giveToOwnerOf } from '../backup/ownership.ts'
import { freeBytes } from '../observability/admission/admission.ts'
import { openStore } from '../open-store.ts'
import { hasStore, prepareDataFolder, storeFolder } from '../process/data-folder.ts'
import { keyProblem, type KeyProblem } from '../process/master-key.ts'
import { listenersOf, listenProblem, type Listener } from '../process/listen-problem.ts'
import { runningDaemon, type OperatorAccess } from '../process/operator-file.ts'
import { StartRefused } from '../process/start-refused.ts'
import { isThere, Unreadable } from '../process/unreadable.ts'
import { certificateFacts, memoryLimit } from './process-check.ts'
import { examineDatabase, examineFolder } from './store-check.ts'
import { lagBehindServers } from './time-check.ts'

/** Result of a check. `summary` describes the findings. Without findings, it describes the state that was checked. */
export interface MachineCheck {
  readonly check: string
  readonly ok: boolean
  readonly summary: string
  readonly findings: readonly ReportedFinding[]
}

type Outcome = Omit<MachineCheck, 'check'>

const mebibyte = 1024 * 1024
const day = 24 * 3600 * 1000
const dnsMs = 3000
/** A correct clock is never before this time. */
const earliestNow = Date.UTC(2026, 0, 1)

/** Runs all checks for a valid configuration. Creates a missing data folder; changes no record and no setting. */
export async function examineMachine(config: Config): Promise<MachineCheck[]> {
  const listeners = listenersOf(config).filter(({ endpoint }) => endpoint.port !== 0)
  // Runs first, because later checks write to the folder whose time it reads.
  const clock = await checkClock(config)
  const own = await askedBy(runningDaemon(config.dataDir))
  const store = (await isStoreChecked(config, own)) ? checkStore(config) : undefined
  const checks: readonly [string, Promise<Outcome>][] = [
    ['node', checkNode()],
    ['data folder', checkDataFolder(config, own)],
    ['memory', checkMemory()],
    ['master key', checkMasterKey(config, store)],
    ...(store ? [['store', store] satisfies [string, Promise<Outcome>]] : []),
    ['certificate', checkCertificate(config, own)],
    ['dns', checkDns(config)],
    ['clock', compareClock(config, clock)],
    ...listeners.map((listener): [string, Promise<Outcome>] => [`port ${listener.endpoint.port}`, checkPort(listener, own)]),
  ]
  return Promise.all(checks.map(async ([check, outcome]) => ({ check, ...(await outcome) })))
}

/** Returns `Unreadable` as a value, because missing permissions are a finding and must not end the checks. */
const askedBy = <T>(asked: Promise<T>): Promise<T | Unreadable> =>
  asked.catch((error: unknown) => {
    if (error instanceof Unreadable) return error
    throw error
  })

const good = (summary: string): Outcome => ({ ok: true, summary, findings: [] })
const bad = (found: Observed): Outcome => outcomeOf([found], '')
function outcomeOf(found: readonly Observed[], otherwise: string): Outcome {
  const findings = found.map((one) => inWords(one))
  return {
    ok: !findings.some(isAlarming),
    summary: findings.map(({ summary, fix }) => `${summary} ${fix}`).join(' ') || otherwise,
    findings,
  }
}
const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : String(error))
/** Splits a message at the semicolon into the problem and the remedy. */
function parted(message: string): { readonly cause: 'refused'; readonly problem: string; readonly remedy: string } {
  const at = message.indexOf('; ')
  if (at < 0) return { cause: 'refused', problem: message, remedy: 'Correct it and run the check again.' }
  const remedy = message.slice(at + 2)
  return { cause: 'refused', problem: `${message.slice(0, at)}.`, remedy: remedy.charAt(0).toUpperCase() + remedy.slice(1) }
}

const folderFinding = (params: FindingParams): Outcome =>
  bad(observed('data.folder', '', { folder: '', owner: '', code: '', problem: '', remedy: '', ...params }))
const portFinding = (address: string, params: FindingParams): Outcome =>
  bad(observed('port.unavailable', address, { address, owner: '', problem: '', remedy: '', ...params }))

async function checkNode(): Promise<Outcome> {
  const { node } = process.versions
  return outcomeOf(nodeFindings(node), `Node ${node}.`)
}

async function checkDataFolder({ dataDir, store }: Config, own: unknown): Promise<Outcome> {
  if (own instanceof Unreadable) return folderFinding({ cause: 'owner', folder: dataDir, owner: own.owner })
  const probe = join(dataDir, `.doctor-${randomUUID()}`)
  try {
    await prepareDataFolder(dataDir)
    await writeFile(probe, 'x', { flush: true })
  } catch (error) {
    if (error instanceof StartRefused) return folderFinding(parted(error.message))
    if (codeOf(error) !== 'ENOSPC') return folderFinding({ cause: 'write', folder: dataDir, code: codeOf(error) })
  } finally {
    await rm(probe, { force: true }).catch(() => undefined)
  }
  const free = Math.floor(freeBytes(dataDir) / mebibyte)
  const ballast = (await stat(join(dataDir, 'ballast')).catch(() => undefined)) ? 0 : store.ballastBytes
  const needed = Math.ceil((store.lowDiskBytes + ballast) / mebibyte)
  return free >= needed
    ? good(`${dataDir} can be written; ${free} MiB are free.`)
    : bad(observed('disk.low', '', { folder: dataDir, freeMib: free, neededMib: needed }))
}

async function checkMemory(): Promise<Outcome> {
  const limit = memoryLimit()
  return outcomeOf(memoryFindings(limit), `${Math.floor(limit / mebibyte)} MiB of memory are available.`)
}

/** Compares the key with the store. A running daemon does this itself. */
async function checkMasterKey(config: Config, store: Promise<Outcome> | undefined): Promise<Outcome> {
  const kept = await checkKeyFile(config)
  if (!kept.ok || (await store)?.ok !== true) return kept
  const found = await storedKeyProblem(config)
  return found ? outcomeOf(keyFindings(found.fault, false), '') : kept
}

async function checkKeyFile(config: Config): Promise<Outcome> {
  if (config.masterKeyFile === null && config.masterKey !== null) return good('The master key is set by variable or configuration file.')
  const path = config.masterKeyFile ?? join(config.dataDir, 'master.key')
  const seen = await askedBy(isThere(path))
  if (seen instanceof Unreadable) return folderFinding(parted(seen.message))
  const found = await stat(path).catch(() => undefined)
  const stored = await askedBy(hasStore(config.dataDir))
  if (stored instanceof Unreadable) return folderFinding(parted(stored.message))
  if (!found && stored) return outcomeOf(keyFindings({ kind: 'master_key.missing', path, folder: config.dataDir }, false), '')
  if (!found) return good(`There is no master key yet; the first start creates ${path}.`)
  const open = (found.mode & 0o077) !== 0
  return open ? bad(observed('master_key.exposed', '', { path })) : good(`The master key is in ${path}, which only its owner can read.`)
}

/** Opens the store in the folder, as `verify` does. Returns undefined also if the store cannot be opened now. */
async function storedKeyProblem(config: Config): Promise<KeyProblem | undefined> {
  if (config.store.address !== null) return undefined
  try {
    await using kv = await openStore(config, {}, 'together') // the previous check has already compared its files
    return await keyProblem(config, kv)
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  } finally {
    await giveToOwnerOf(config.dataDir)
  }
}

/** Whether to check the store. A running daemon checks its folder itself. */
const isStoreChecked = async ({ store, dataDir }: Config, own: unknown): Promise<boolean> =>
  store.address !== null || (own === undefined && (await askedBy(hasStore(dataDir))) === true)

async function checkStore(config: Config): Promise<Outcome> {
  const examined = config.store.address === null ? examineFolder(storeFolder(config.dataDir)) : examineDatabase(config)
  const { summary, found } = await examined
  return outcomeOf(found, summary)
}

async function checkCertificate(config: Config, own: unknown): Promise<Outcome> {
  const facts = await certificateFacts(config, Date.now())
  const { certificate, host } = facts
  if (certificate === undefined && own instanceof Unreadable) return folderFinding({ cause: 'certificate', owner: own.owner })
  const found = certificateFindings(facts)
  if (certificate === undefined)
    return outcomeOf(found, `There is no certificate yet; the first start ${facts.isOrdered ? 'orders one' : 'creates a self-signed one'}.`)
  if (typeof certificate === 'string') return outcomeOf(found, '')
  const days = Math.floor((certificate.expiresAt - facts.now) / day)
  const text = `The certificate is valid for ${host} and ${days} days${certificate.isSelfSigned ? '; it is self-signed' : ''}.`
  const outcome = outcomeOf(found, text)
  return outcome.ok ? { ...outcome, summary: text } : outcome
}

/** Any answer is a success, including a missing name. Only silent servers are a problem. */
async function checkDns({ outbound, smtpHost }: Config): Promise<Outcome> {
  const resolver = new Resolver({ timeout: dnsMs, tries: 1 })
  if (outbound.dnsServers.length > 0) resolver.setServers(outbound.dnsServers)
  const servers = resolver.getServers().join(', ')
  try {
    const addresses = await resolver.resolve4(smtpHost)
    return good(`${servers} answers; ${smtpHost} is ${addresses.join(', ')}.`)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA') return good(`${servers} answers; ${smtpHost} has no address there.`)
    return bad(observed('dns.unreachable', '', { servers, code }))
  }
}

async function checkClock({ dataDir }: Config): Promise<Outcome> {
  const now = Date.now()
  if (now < earliestNow) return bad(observed('clock.wrong', '', { cause: 'past', nowAt: now }))
  const written = await stat(dataDir).catch(() => undefined)
  if (written && written.mtimeMs > now + day) return bad(observed('clock.wrong', '', { cause: 'data', nowAt: now }))
  return good(`The clock shows ${new Date(now).toISOString()}.`)
}

/** Compares a plausible clock with time servers. A silent server is not a fault of the clock. */
async function compareClock(config: Config, seen: Outcome): Promise<Outcome> {
  if (!seen.ok || config.doctor.timeServers.length === 0) return seen
  const lag = await lagBehindServers(config)
  if (!lag) return good(`${seen.summary} No time server answers, so the clock was not compared.`)
  return outcomeOf(lagFindings(lag), `${seen.summary} It differs from ${lag.server} by ${Math.abs(Math.round(lag.ms))} ms.`)
}

async function checkPort(listener: Listener, own: OperatorAccess | Unreadable | undefined): Promise<Outcome> {
  const address = formatEndpoint(listener.endpoint)
  if (own && 'listening' in own && own.listening.includes(address))
    return good(`${address} is used by the daemon of this data folder (pid ${own.pid}).`)
  const { host, port } = listener.endpoint
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error) => resolve(codeOf(error)))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  const code = await promise
  if (code === 'EADDRINUSE' && own instanceof Unreadable) return portFinding(address, { cause: 'owner', owner: own.owner })
  return code === undefined ? good(`${address} is free.`) : portFinding(address, parted(await listenProblem(listener, code)))
}
