/**
 * The thread that authenticates mail. It processes several mails at a time, because most of their time passes in DNS. Each mail has a
 * separate port.
 */
import { parentPort, type MessagePort } from 'node:worker_threads'
import type { Authentication, ReceivedMail } from '#core/inbound-routes/authentication.ts'
import { authenticateMail } from './mail-authentication.ts'
import { AskedQuestions, type Question, type QuestionAnswer } from '../dns/thread-questions.ts'

/** Message to the thread. `hostname` is the hostname of this server. */
export interface AuthenticationTask {
  readonly mail: ReceivedMail
  readonly hostname: string
  readonly port: MessagePort
}

/** Messages on the port of a mail: DNS queries, then the result. */
export type FromAuthentication = Question | { readonly kind: 'authentication'; readonly authentication: Authentication }

parentPort?.on('message', ({ mail, hostname, port }: AuthenticationTask) => {
  const post = (message: FromAuthentication): void => port.postMessage(message)
  const asked = new AskedQuestions(post)
  port.on('message', (answer: QuestionAnswer) => asked.receive(answer))
  // an error ends the thread, and the main thread is notified
  void authenticateMail(mail, hostname, asked.resolve).then((authentication) => post({ kind: 'authentication', authentication }))
})
