/** Hides details of suppressions outside the project from callers bound to one project. Pure. */
import type { Principal } from '../../access/principal/principal.ts'
import type { RecipientSuppression, Trace } from '../trace.ts'

/** Replaces id and source of an entry outside the project. */
export const outsideProject = 'outside_project'

type Caller = Pick<Principal, 'bound' | 'projectId'>
type Applied = Omit<RecipientSuppression, 'at'>

/** Traces of earlier releases do not record the project of an entry. */
const isOutside = ({ projectId }: Caller, { projectId: from, source }: Applied): boolean =>
  from === undefined ? source !== 'unsubscribe' : from !== projectId

/** Returns the suppression. Hides its id, source and reason from a key of another project. */
export const suppressionSeenBy = <S extends Applied>(caller: Caller, suppression: S): S =>
  caller.bound && isOutside(caller, suppression)
    ? { ...suppression, id: outsideProject, source: outsideProject, reason: null }
    : suppression

/** Returns the trace, with its suppressions as the caller may see them. */
export function traceSeenBy(caller: Caller, trace: Trace): Trace {
  if (!caller.bound || trace.recipients.every(({ suppression }) => suppression === undefined)) return trace
  const recipients = trace.recipients.map((recipient) =>
    recipient.suppression ? { ...recipient, suppression: suppressionSeenBy(caller, recipient.suppression) } : recipient,
  )
  return { ...trace, recipients }
}
