/**
 * The crash test: clients send, the daemon is killed at random moments and started again, and at the end the ledger of promises is compared
 * with the arrived mail. `kill -9` keeps the page cache, so it proves the order of writes in the daemon, not on the disk; `fsync.test.ts`
 * proves the latter.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { waiting } from '../support/waits.ts'
import { Seeded } from '../support/seeded.ts'
import { arrivals, auditCaptures, auditTraces } from './crash-audit.ts'
import { faultNames, faultScript, refuseForGood, type FaultName } from './faults.ts'
import { Ledger, type Fate } from './ledger.ts'
import { repeatKeys, restLoad, smtpLoad, type Load } from './load.ts'
import { CrashServer } from './crash-site.ts'

export interface CrashTestOptions {
  readonly seed: number
  readonly rounds: number
  /** Longest load before each kill, in seconds. */
  readonly seconds: number
  readonly say?: (line: string) => void
}

export interface CrashReport {
  /** Failed ledgers come first and begin with `ledger: `. */
  readonly problems: readonly string[]
  /** A summary of the run in one line. */
  readonly summary: string
}

/** Maximum messages of one client in one round. */
const mostPerClient = 150

interface Round {
  readonly number: number
  readonly fault: FaultName
  readonly random: Seeded
  readonly seconds: number
  /** Decides if the round ends with an orderly stop instead of a kill. */
  readonly gentle: boolean
}

/** Runs all rounds and the audit. Faults of the daemon do not reject; they are in `problems`. */
export async function crashTest({ seed, rounds, seconds, say = () => undefined }: CrashTestOptions): Promise<CrashReport> {
  const ledger = new Ledger()
  const random = new Seeded(seed)
  await using server = await CrashServer.build(ledger)
  for (let number = 0; number < rounds; number++) {
    const gentle = number === rounds - 1
    const fault = gentle ? 'slow' : (faultNames[number % faultNames.length] ?? 'accept')
    const round: Round = { number, fault, random: random.branch(`round ${String(number)}`), seconds, gentle }
    if (number > 0) await nextLife(server, ledger, round)
    await playRound(server, ledger, round)
    say(`round ${String(number)} (${fault}): ${String(ledger.acked().length)} acknowledged, ${String(ledger.awaited)} not yet delivered`)
  }
  await drain(server, ledger)
  await inspect(server, ledger)
  return { problems: ledger.faults, summary: summarize(ledger, server, seed) }
}

/** Starts the daemon again, sometimes with several kills during the start. */
async function nextLife(server: CrashServer, ledger: Ledger, { random }: Round): Promise<void> {
  const tries = random.chance(0.5) ? random.between(1, 5) : 0
  const usual = server.starts[0] ?? 500
  for (let i = 0; i < tries; i++) {
    const daemon = await server.launch()
    await pause(random.between(0, usual))
    ledger.killed()
    await daemon.kill()
  }
  await server.start()
}

async function playRound(server: CrashServer, ledger: Ledger, round: Round): Promise<void> {
  const over = new AbortController()
  const ended = Promise.withResolvers<void>()
  const seed = String(round.random.fraction())
  const hangingUpOn = (content: Buffer): void => ledger.hungUpOn(content)
  server.sink.script = faultScript({ name: round.fault, seed, ended: ended.promise, hangingUpOn })
  const { daemon } = server
  const clients = Promise.all(startClients(server, ledger, round, over.signal))
  await Promise.race([pause(round.random.between(200, round.seconds * 1000)), daemon.exited])
  await end(server, ledger, round)
  over.abort()
  ended.resolve()
  // deliveries between two rounds are not part of a fault; a smart host that still delays would hang up without a record
  server.sink.script = { recipient: refuseForGood }
  server.sink.dropConnections()
  await waiting('all clients noticed the end of the round', clients)
}

async function end({ daemon }: CrashServer, ledger: Ledger, { gentle, number }: Round): Promise<void> {
  const dead = await Promise.race([daemon.exited, Promise.resolve(undefined)])
  if (dead) {
    ledger.fault(`round ${String(number)}: the daemon ended by itself (${JSON.stringify(dead)}):\n${daemon.log.slice(-2000)}`)
    ledger.killed()
    return
  }
  if (!gentle) {
    ledger.killed()
    await daemon.kill()
    return
  }
  const exit = await daemon.stop()
  if (exit.code !== 0) ledger.fault(`SIGTERM under load: ${JSON.stringify(exit)}:\n${daemon.log.slice(-2000)}`)
}

function startClients(server: CrashServer, ledger: Ledger, { number, random }: Round, over: AbortSignal): Promise<void>[] {
  const { rest } = server.daemon
  const load = (name: string): Load => ({
    ledger,
    over,
    name: `${String(number)}-${name}`,
    most: mostPerClient,
    random: random.branch(name),
  })
  const smtp = (name: string, fate: Fate, port: number, security: 'none' | 'starttls' | 'tls'): Promise<void> =>
    smtpLoad(load(name), { port, security, login: server.logins[fate], fate })
  return [
    smtp('a', 'relay', server.submissionPort(0), 'none'),
    smtp('b', 'relay', server.submissionPort(1), 'starttls'),
    smtp('c', 'relay', server.implicitTlsPort, 'tls'),
    smtp('d', 'capture', server.submissionPort(0), 'none'),
    restLoad(load('e'), rest),
    restLoad(load('f'), rest),
    repeatKeys(load('g'), rest),
  ]
}

/** A final run without faults: all acknowledged mail must arrive now. */
async function drain(server: CrashServer, ledger: Ledger): Promise<void> {
  server.sink.script = { recipient: refuseForGood }
  const daemon = await server.start()
  await arrivals(ledger, daemon.rest)
  // After an orderly stop, all replies of the smart host are recorded, so no wait is necessary.
  const exit = await daemon.stop()
  if (exit.code !== 0) ledger.fault(`SIGTERM after the drain: ${JSON.stringify(exit)}:\n${daemon.log.slice(-2000)}`)
}

async function inspect(server: CrashServer, ledger: Ledger): Promise<void> {
  const daemon = await server.start()
  ledger.auditDeliveries()
  await auditTraces(ledger, daemon.rest)
  await auditCaptures(ledger, daemon.rest)
  await daemon.stop()
  const verified = await server.verify()
  if (verified.code !== 0) ledger.problem(`verify ended with ${String(verified.code)}:\n${verified.output.slice(-3000)}`)
}

function summarize(ledger: Ledger, server: CrashServer, seed: number): string {
  const counts = [
    `seed ${String(seed)}`,
    `${String(ledger.entries.size)} messages`,
    `${String(ledger.acked('relay').length)} acknowledged for relay`,
    `${String(ledger.acked('capture').length)} for capture`,
    `${String(ledger.count('refused'))} refused or unfinished`,
    `${String(ledger.count('unknown'))} unknown`,
    `${String(ledger.duplicated().length)} delivered twice inside the window`,
    `${String(ledger.postponed().length)} hung up on after the final dot`,
    `slowest start ${String(Math.round(Math.max(...server.starts)))} ms`,
    `${String(ledger.faults.length)} problems`,
  ]
  return counts.join(', ')
}
