/** Recognizes fields of a delivery-status part (RFC 3464 §2) in the text of a notice, since they are not a server's reply. */

const shownField =
  /(?:^|(?<=[;,][ \t]))[\s>]{0,20}(?:(?:final|original)-recipient|action(?=[ \t]*:[ \t]*(?:failed|delayed|delivered|relayed|expanded|expired))|status(?=[ \t]*:[ \t]*[245]\.\d)|remote-mta|reporting-mta|received-from-mta|dsn-gateway|arrival-date|last-attempt-date|will-retry-until|final-log-id|original-envelope-id|x-(?:actual-recipient|display-name|postfix-[\w-]{1,40}))[ \t]{0,8}:.*$/i
const diagnosticField = /^[\s>]{0,20}diagnostic-code[ \t]{0,8}:[ \t]{0,20}(?:[\w-]{1,40}[ \t]?;)?[ \t]{0,20}/i

/** Removes such fields with their continuation lines. The reply in Diagnostic-Code stays. */
export function withoutShownFields(about: string): string {
  let isInside = false
  const left: string[] = []
  for (const line of about.split('\n')) {
    if (isInside && /^[ \t]+\S/.test(line) && !diagnosticField.test(line)) continue
    const rest = line.replace(diagnosticField, '').replace(shownField, '')
    isInside = rest !== line && rest === '' && !diagnosticField.test(line)
    if (!isInside) left.push(rest)
  }
  return left.join('\n').trim()
}
