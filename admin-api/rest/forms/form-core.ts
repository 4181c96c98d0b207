/** The core of the form operations. */
import type { FormAnalytics } from '#core/forms/analytics/analytics.ts'
import type { FormVisits } from '#core/forms/analytics/form-visits.ts'
import type { FormDrafts } from '#core/forms/drafts.ts'
import type { EmbedSnippets } from '#core/forms/embed-snippets.ts'
import type { Forms } from '#core/forms/forms.ts'
import type { FormNotifications } from '#core/forms/notifications/notifications.ts'
import type { Recipients } from '#core/forms/notifications/recipients.ts'
import type { FormWebhookTests } from '#core/forms/notifications/webhook-test.ts'
import type { Publishing } from '#core/forms/publishing.ts'
import type { Replies } from '#core/forms/replies/replies.ts'
import type { SubmissionExports } from '#core/forms/submissions/export.ts'
import type { FileDownloads } from '#core/forms/uploads/file-downloads.ts'
import type { PublicForms } from '#core/forms/submissions/public-forms.ts'
import type { PrefilledLinks } from '#core/forms/submissions/signed-values.ts'
import type { Submissions } from '#core/forms/submissions/submissions.ts'
import type { SubmitForms } from '#core/forms/submissions/submit.ts'
import type { FormThanks } from '#core/forms/submissions/thanks.ts'

export interface FormCore {
  readonly forms: Forms
  readonly drafts: FormDrafts
  readonly publishing: Publishing
  readonly snippets: EmbedSnippets
  readonly prefilledLinks: PrefilledLinks
  readonly publicForms: PublicForms
  readonly visits: FormVisits
  readonly analytics: FormAnalytics
  readonly submit: SubmitForms
  readonly thanks: FormThanks
  readonly submissions: Submissions
  readonly exports: SubmissionExports
  readonly downloads: FileDownloads
  readonly replies: Replies
  readonly notifications: FormNotifications
  readonly recipients: Recipients
  readonly webhookTests: FormWebhookTests
}
