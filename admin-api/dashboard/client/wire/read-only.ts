/** Written by `admin-api/dashboard/wire-types.ts` from the OpenAPI document. Do not edit. */

/** Routes that change no list although their method is not GET: they need only the scope `api:read`. */
export const readOnly: ReadonlySet<string> = new Set([
  'POST /v1/routing/simulate',
  'POST /v1/routing/what-if',
  'POST /v1/templates/{id}/preview',
  'POST /v1/templates/check',
  'POST /v1/forms/{id}/embed-snippet',
  'POST /v1/forms/{id}/validate',
  'POST /v1/forms/{id}/submissions/{submission_id}/reply-preview',
  'POST /v1/account/claim',
  'PATCH /v1/account/mail',
  'POST /v1/inboxes/{id}/wait',
])
