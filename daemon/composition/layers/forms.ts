/** Composes forms: design and submissions. */
import { formsUrl } from '#config/settings/load.ts'
import { reported } from '#core/activity.ts'
import { FormAnalytics } from '#core/forms/analytics/analytics.ts'
import { FormVisits } from '#core/forms/analytics/form-visits.ts'
import { FormDrafts } from '#core/forms/drafts.ts'
import { EmbedSnippets } from '#core/forms/embed-snippets.ts'
import { Forms } from '#core/forms/forms.ts'
import { FormNotifications } from '#core/forms/notifications/notifications.ts'
import { FormNotifier } from '#core/forms/notifications/notifier.ts'
import { Recipients } from '#core/forms/notifications/recipients.ts'
import { Publishing } from '#core/forms/publishing.ts'
import { SubmissionExports } from '#core/forms/submissions/export.ts'
import { PublicForms } from '#core/forms/submissions/public-forms.ts'
import { PrefilledLinks } from '#core/forms/submissions/signed-values.ts'
import { Submissions } from '#core/forms/submissions/submissions.ts'
import { SubmitForms } from '#core/forms/submissions/submit.ts'
import { FormThanks } from '#core/forms/submissions/thanks.ts'
import { FileDownloads } from '#core/forms/uploads/file-downloads.ts'
import { FileScanning } from '#core/forms/uploads/file-scanning.ts'
import { Clamd } from '../../../protocols/clamd/clamd.ts'
import { broke, guardOf, type Add } from '../parts.ts'

export function addForms(add: Add): void {
  add('forms', (composition) => {
    const { get, config } = composition
    const core = get('core')
    const { mail, outbox } = get('people')
    const guards = { guard: guardOf(composition, config.outbound.allow.webhooks), resolver: get('resolver') }
    const publicForms: PublicForms = new PublicForms(core, (found) => visits.viewed(found))
    const visits = new FormVisits({ ...core, publicForms, lateCounts: get('lateCounts') })
    const address = formsUrl(config, config.http.listen)
    const ownOrigin = new URL(address).origin
    const designed = { forms: new Forms(core), drafts: new FormDrafts(core), publishing: new Publishing(core) }
    const hasScanner = config.uploads.clamd !== null
    return {
      ...designed,
      snippets: new EmbedSnippets({ ...designed, formsUrl: address }),
      prefilledLinks: new PrefilledLinks({ ...core, ...designed, formsUrl: address }),
      ...{ publicForms, visits, analytics: new FormAnalytics(core) },
      submit: new SubmitForms({ ...core, captchas: get('publishable').captchas, publicForms, visits, ownOrigin, hasScanner }),
      downloads: new FileDownloads({ ...core, hasScanner, allowsUnscanned: config.uploads.unscannedDownloads === 'allow' }),
      thanks: new FormThanks(core, publicForms),
      submissions: new Submissions(core),
      exports: new SubmissionExports(core),
      notifications: new FormNotifications({ ...core, ...guards, mail, outbox }),
      recipients: new Recipients(core),
    }
  })
  add('fileScanning', (composition) => {
    const { get, config, metrics } = composition
    const { clamd: address } = config.uploads
    const scanner = address === null ? undefined : reported(get('activity'), new Clamd({ address }), { scan: 'scan of a file' })
    const scanning = new FileScanning({ ...get('core'), scanner, onError: broke(composition, 'scan of a file') })
    metrics.watch('scans_waiting', 'Uploaded files that wait for a virus scan, at most 10000.', () => scanning.waiting())
    return scanning
  })
  add('formNotifier', (composition) => {
    const { get } = composition
    const { mail } = get('people')
    const onError = broke(composition, 'notifications of a form')
    return new FormNotifier({ ...get('core'), sendMessages: get('rest').sendMessages, mail, settle: get('settle'), onError })
  })
}
