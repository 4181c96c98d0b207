/** Public mails with random changes: the result is within its limits, or the documented refusal. */
import test from '#test'
import { readMessage } from '#ingest/messages/read-message.ts'
import { readParts } from '#ingest/mime/message-parts.ts'
import { BeyondLimits } from '#ingest/mime/mime-parse.ts'
import { safeReading } from '../../../../admin-api/wire/inboxes/safe-reading.ts'
import { Seeded, seedOf } from '../../../support/seeded.ts'
import { changedMail } from './changed-mail.ts'
import { publicMails } from './public-mails.ts'

const seed = seedOf(7)
const count = 800
/** Characters in a result for each octet of the mail, in addition to a constant. Markup and addresses occur twice in it. */
const growth = 8
const ownCharacters = 20_000
const maxEntries = 1000
const maxToolCharacters = 60_000

/** Returns `undefined` for the documented refusal. */
async function answered<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof BeyondLimits) return undefined
    throw error
  }
}

/** Counts the characters of all texts, plus a constant for each value: the amount that the main thread copies from the parsing thread. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce<number>((sum, inner) => sum + 8 + charactersIn(inner), 0)
}

test(`readMessage() reads changed public mails within limits or refuses them (POSTERN_TEST_SEED=${seed})`, async (t) => {
  const mails = publicMails()
  let read = 0
  for (let at = 0; at < count; at++) {
    const by = new Seeded(`${seed}/${at}`)
    const mail = by.pick(mails)
    const raw = changedMail(mail.octets, by, by.pick(mails).octets)
    const title = `${mail.name}, change ${at}`
    const message = await answered(readMessage(raw, by.chance(0.1)))
    const parts = await answered(readParts(raw))
    if (!message) continue
    read++
    t.true(charactersIn(message) <= growth * raw.length + ownCharacters, title)
    t.true(JSON.stringify(safeReading({ ok: true, message })).length <= maxToolCharacters, title)
    for (const list of [message.from, message.to, message.cc, message.bcc, message.replyTo, message.headers, message.attachments])
      t.true(list.length <= maxEntries, title)
    for (const text of [message.subject, message.text, message.html, ...message.attachments.map(({ filename }) => filename)])
      t.true(text.isWellFormed(), title)
    t.true(parts === undefined || parts.attachments.every(({ content }) => content.length <= raw.length), title)
  }
  t.log(`${read} of ${count} mails were read`)
  t.true(read > count * 0.9)
})
