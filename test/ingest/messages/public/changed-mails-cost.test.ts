/** Public mails with random changes cost processor time in proportion to their size. */
import test from '#test'
import { readMessage } from '#ingest/messages/read-message.ts'
import { BeyondLimits } from '#ingest/mime/mime-parse.ts'
import { heldLoop } from '../../../support/measure/held-loop.ts'
import { Seeded, seedOf } from '../../../support/seeded.ts'
import { changedMail } from './changed-mail.ts'
import { publicMails } from './public-mails.ts'

const seed = seedOf(1)
const count = 800
/** Milliseconds for any mail, and for each KiB. Code runs slower the first time. */
const base = 150
const each = 1
const maxTries = 3

const costOf = async (raw: Buffer): Promise<number> => {
  const refused = (error: unknown): void => {
    if (!(error instanceof BeyondLimits)) throw error
  }
  return (await heldLoop(() => readMessage(raw, false).catch(refused))).totalMs
}

/** Uses the fastest of several attempts, because other load makes an attempt slower. */
async function isWithin(raw: Buffer, bound: number): Promise<boolean> {
  for (let tries = 0; tries < maxTries; tries++) if ((await costOf(raw)) <= bound) return true
  return false
}

test(`changed public mails: processor time is linear in size (POSTERN_TEST_SEED=${seed})`, async (t) => {
  const mails = publicMails()
  for (let at = 0; at < count; at++) {
    const by = new Seeded(`${seed}/${at}`)
    const mail = by.pick(mails)
    const raw = changedMail(mail.octets, by, by.pick(mails).octets)
    t.true(await isWithin(raw, base + (each * raw.length) / 1024), `${mail.name}, change ${at}, ${raw.length} octets`)
  }
})
