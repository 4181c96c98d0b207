/**
 * Three daemons with one database, all under load. Daemons and database are killed, stopped and cut off, the database fails over to a
 * standby, and clocks are changed. At the end, the arrived mail is compared with the ledger of acknowledged messages.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { waiting } from '../../support/waits.ts'
import { portOf } from '../../support/daemon/daemon.ts'
import type { Postgresql } from '../../support/peers/postgresql.ts'
import { Seeded } from '../../support/seeded.ts'
import { arrivals, auditCaptures, auditTraces } from '../crash-audit.ts'
import type { CrashReport } from '../crash-test.ts'
import { repeatKeys, restLoad, smtpLoad, type Load } from '../load.ts'
import { Site, type Blow } from './several-site.ts'

export interface SeveralOptions {
  readonly seed: number
  readonly rounds: readonly Blow[]
  readonly postgresql: Postgresql
}

const mostPerClient = 60

/** Runs all rounds and the audit. Faults of the daemons are in `problems`. */
export async function severalCrashes({ seed, rounds, postgresql }: SeveralOptions): Promise<CrashReport> {
  const random = new Seeded(seed)
  await using site = await Site.build(postgresql, rounds)
  const { ledger } = site
  for (const [number, blow] of rounds.entries()) {
    await site.fill()
    await site.prepare(blow)
    site.answerSlowly(`${seed} ${number}`)
    const over = new AbortController()
    const clients = Promise.all(startClients(site, random.branch(`round ${number}`), number, over.signal))
    await pause(random.between(300, 1500))
    await site.strike(blow, random)
    over.abort()
    await waiting('all clients noticed the end of the round', clients)
    site.answer()
  }
  await site.fill()
  await arrivals(ledger, site.one.rest)
  await site.recordAll()
  ledger.auditDeliveries()
  await auditTraces(ledger, site.one.rest)
  await auditCaptures(ledger, site.one.rest)
  await site.end()
  const summary = `seed ${seed}, ${ledger.entries.size} messages, ${ledger.acked('relay').length} acknowledged for relay, ${ledger.acked('capture').length} for capture, ${ledger.duplicated().length} delivered twice inside the window, ${ledger.faults.length} problems`
  return { problems: ledger.faults, summary }
}

function startClients({ daemons, ledger, logins }: Site, random: Seeded, number: number, over: AbortSignal): Promise<void>[] {
  return daemons.flatMap((daemon, at) => {
    const load = (name: string): Load => ({
      ledger,
      over,
      name: `${number}-${at}-${name}`,
      most: mostPerClient,
      random: random.branch(`${at} ${name}`),
    })
    const port = portOf(daemon.addresses.submission[0])
    return [
      smtpLoad(load('a'), { port, security: 'none', login: logins.relay, fate: 'relay' }),
      smtpLoad(load('b'), { port, security: 'none', login: logins.capture, fate: 'capture' }),
      restLoad(load('c'), daemon.rest),
      repeatKeys(load('d'), daemon.rest),
    ]
  })
}
