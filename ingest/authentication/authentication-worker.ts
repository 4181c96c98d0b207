/** The thread that authenticates mail: several mails at a time, as most of their time goes by in DNS. Each has a port of its own. */
import { parentPort, type MessagePort } from 'node:worker_threads'
import type { Authentication, ReceivedMail } from '#core/inbound-routes/authentication.ts'
import { authenticateMail } from './mail-authentication.ts'
import { AskedQuestions, type Question, type QuestionAnswer } from '../dns/thread-questions.ts'

/** To the thread; `hostname` is our name. */
export interface AuthenticationTask {
  readonly mail: ReceivedMail
  readonly hostname: string
  readonly port: MessagePort
}

/** Over the port of the mail: questions to DNS, and at last what was found. */
export type FromAuthentication = Question | { readonly kind: 'authentication'; readonly authentication: Authentication }

parentPort?.on('message', ({ mail, hostname, port }: AuthenticationTask) => {
  const post = (message: FromAuthentication): void => port.postMessage(message)
  const asked = new AskedQuestions(post)
  port.on('message', (answer: QuestionAnswer) => asked.receive(answer))
  // what throws ends the thread, and the main thread is notified
  void authenticateMail(mail, hostname, asked.resolve).then((authentication) => post({ kind: 'authentication', authentication }))
})
