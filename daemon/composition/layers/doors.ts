/** Composes the entry points: SMTP and HTTP. */
import { LoginGuard } from '#core/visitors/login-guard.ts'
import { certificates } from '../../certificates/certificates.ts'
import { doctorCore } from '../../doctor/doctor-core.ts'
import { agentEndpoint, httpDoor } from '../http-door.ts'
import { mailDoors, submissionDoor, submissionServer } from '../mail-doors.ts'
import type { Add } from '../parts.ts'
import { publishableCore } from '../publishable-core.ts'
import { restCore } from '../rest-core.ts'

export function addDoors(add: Add): void {
  add('loginGuard', ({ get }) => new LoginGuard(get('core')))
  add('certificates', certificates)
  add('submissionDoor', submissionDoor)
  add('submission', submissionServer)
  add('mailDoors', mailDoors)
  add('publishable', publishableCore)
  add('doctor', doctorCore)
  add('rest', restCore)
  add('agents', agentEndpoint)
  add('http', httpDoor)
}
