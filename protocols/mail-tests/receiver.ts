/** Mail server of simulated recipients (RFC 5321): accepts on loopback the deliveries of an instance for mail tests. */
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import type { ReceivedMail, TestMailbox } from '#core/mail-tests/test-mailbox.ts'
import type { TestRecipients } from '#core/mail-tests/test-recipients.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'
import type { LaterReports } from './later-reports.ts'

export interface ReceiverOptions {
  readonly recipients: Pick<TestRecipients, 'answer'>
  readonly mailbox: Pick<TestMailbox, 'open'>
  readonly reports: Pick<LaterReports, 'expect'>
  readonly onError: (error: unknown) => void
}

/** Host name in the greeting. It never resolves (RFC 6761 §6.4). */
export const receiverName = 'recipients.invalid'
const closeMs = 500

export class TestReceiver {
  readonly #options: ReceiverOptions
  readonly #server: SMTPServer

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#server = new SMTPServer({
      ...{ name: receiverName, authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true },
      ...{ hideENHANCEDSTATUSCODES: false, logger: false, closeTimeout: closeMs },
      onRcptTo: ({ address }, _session, answer) => {
        this.#options.recipients.answer(address, 'delivery').then((no) => answer(no && asReply(no)), answer)
      },
      onData: (stream, session, answer) => {
        this.#take(stream, session).then(
          (id) => answer(null, `received as ${id}`),
          (error: unknown) => answer(this.#failed(error)),
        )
      },
    })
    // the delivery reports a client that disconnects during a message
    this.#server.on('error', () => undefined)
  }

  /** Starts the server on a free loopback port and returns the port. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.server.once('error', reject)
      this.#server.listen(0, '127.0.0.1', resolve)
    })
    return (this.#server.server.address() as AddressInfo).port
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  async #take(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<string> {
    const mail: ReceivedMail = this.#options.mailbox.open()
    try {
      for await (const chunk of stream) await mail.write(chunk as Buffer)
      const rcptTo = envelope.rcptTo.map(({ address }) => address)
      const mailFrom = envelope.mailFrom ? envelope.mailFrom.address : ''
      const { traceId, sendId } = await mail.keep(mailFrom, rcptTo)
      this.#options.reports.expect({ rcptTo, mailFrom, head: mail.head(), sendId })
      return traceId
    } catch (error) {
      await mail.discard()
      throw error
    }
  }

  #failed(error: unknown): Error {
    this.#options.onError(error)
    return new NegativeReply(451, '4.3.0', 'The mailbox cannot accept mail now; try again later.')
  }
}

const asReply = ({ code, enhanced, text }: { code: number; enhanced: string; text: string }): NegativeReply =>
  new NegativeReply(code, enhanced, text)
