/** The doors: SMTP and HTTP in front of the core. */
import { LoginGuard } from '#core/visitors/login-guard.ts'
import { httpDoor } from '../http-door.ts'
import { mailDoors, submissionDoor, submissionServer } from '../mail-doors.ts'
import { T, type Add } from '../parts.ts'
import { publishableCore } from '../publishable-core.ts'
import { restCore } from '../rest-core.ts'

export function addDoors(add: Add): void {
  add(T.LoginGuard, ({ get }) => new LoginGuard(get(T.Clock)))
  add(T.SubmissionDoor, submissionDoor)
  add(T.Submission, submissionServer)
  add(T.MailDoors, mailDoors)
  add(T.Publishable, publishableCore)
  add(T.Rest, restCore)
  add(T.Http, httpDoor)
}
