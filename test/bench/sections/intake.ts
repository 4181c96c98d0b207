/** Section "intake": rate of mail accepted to disk without deliveries. */
import {
  coldName,
  compare,
  comparisonLines,
  generatorLines,
  memoryAtLoad,
  costLine,
  profileWork,
  usualDialog,
  type Send,
  type Traffic,
  type Work,
} from '../comparison.ts'
import { recipient, sender, startPostern, startPostfix } from '../contenders.ts'
import { loadBySmtp } from '../load/generators.ts'
import { sessions } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { shareLines } from '../profile.ts'
import { costHead, judgeAll, sampleHead, shareOf, type Section } from '../results.ts'

/** The base case that other rows vary: a typical client with a shop's mail. */
export const usual: Traffic = { name: 'reused', label: '4 KiB, reused', size: 4096, dialog: usualDialog, share: 1 }
export const large: Traffic = { ...usual, name: 'large', label: '100 KiB, reused', size: 102_400, share: 0.3 }
export const pipelined: Traffic = {
  ...usual,
  name: 'pipelined',
  label: '4 KiB, reused, pipelined',
  dialog: { ...usualDialog, pipelining: true },
  share: 0.5,
}
const single: Traffic = {
  ...usual,
  name: 'single',
  label: '4 KiB, one a connection',
  dialog: { ...usualDialog, perConnection: true },
  share: 0.3,
}
const starttls: Traffic = {
  ...single,
  name: 'starttls',
  label: '4 KiB, one a connection, TLS',
  dialog: { ...usualDialog, perConnection: true, starttls: true },
  share: 0.2,
}

export const accept: Send = ({ port, login }, { size, dialog }, count, mostSeconds) =>
  loadBySmtp({ port, login, sessions, count, mostSeconds, size, from: sender, to: recipient, ...dialog })

const work: Work = {
  start: { postfix: () => startPostfix('nowhere'), postern: (env) => startPostern('nowhere', env) },
  send: accept,
  traffic: [usual, pipelined, single, starttls, large],
}

export async function measureIntake(options: BenchOptions): Promise<Section> {
  const found = await compare(work, options)
  const all = [...found.values()]
  const profile = await profileWork(work, options)
  const { reused, single, starttls, large } = Object.fromEntries(found)
  const cold = found.get(coldName)
  return {
    name: 'intake',
    lines: [
      `SMTP intake, ${String(sessions)} sessions, nothing leaves; every session logs in. "Reused" waits for each reply, as PHPMailer, nodemailer and`,
      'smtplib do; "TLS" is STARTTLS and a login for each message.',
      sampleHead,
      ...all.flatMap(comparisonLines),
      ...generatorLines(all),
      'Cost of one message for Postern:',
      costHead,
      ...all.map(costLine),
      ...shareLines(profile),
    ],
    verdicts: [
      ...judgeAll(reused, [
        ['intake 4 KiB, reused: >= 4 x Postfix', ({ ratio }) => ratio, '>=', 4, 'x'],
        [
          "intake 4 KiB, reused: CPU a message <= 0.25 of Postfix's",
          ({ postern, postfix }) => shareOf(postern.cpuMicros, postfix.cpuMicros),
          '<=',
          0.25,
          'of it',
        ],
        [
          "intake 4 KiB, reused: p99 to acknowledgement below Postfix's p50",
          ({ postern, postfix }) => shareOf(postern.p99, postfix.p50),
          '<=',
          1,
          'of it',
        ],
        ['intake 4 KiB, reused: main thread <= 150 µs a message', ({ postern }) => postern.mainMicros, '<=', 150, 'µs'],
      ]),
      ...judgeAll(cold && reused && { cold, reused }, [
        [
          'intake 4 KiB, reused: cold >= 0.7 of warm',
          (both) => shareOf(both.cold.postern.perSecond, both.reused.postern.perSecond),
          '>=',
          0.7,
          'of it',
        ],
      ]),
      ...judgeAll(single, [['intake 4 KiB, one a connection: >= 2.5 x Postfix', ({ ratio }) => ratio, '>=', 2.5, 'x']]),
      ...judgeAll(starttls, [['intake 4 KiB, one a connection with STARTTLS: >= 2 x Postfix', ({ ratio }) => ratio, '>=', 2, 'x']]),
      ...judgeAll(large, [['intake 100 KiB: >= 2.5 x Postfix', ({ ratio }) => ratio, '>=', 2.5, 'x']]),
      ...memoryAtLoad('intake', all),
    ],
    data: { compared: all, profile: Object.fromEntries(profile) },
  }
}
