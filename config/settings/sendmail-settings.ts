/** Settings of `postern sendmail`, which replaces /usr/sbin/sendmail. */
import { optionalWritten, section } from './fields.ts'
import { absolutePath, emailAddress, origin, sendKey } from './formats.ts'

export const sendmail = section({
  url: optionalWritten(
    {
      description: 'Address of the daemon that postern sendmail hands mail to. By default the one that runs on the data folder.',
      limit: 'an http or https address without a path, such as https://mail.example.org',
    },
    origin,
  ),
  key: optionalWritten(
    {
      description: 'API key with which postern sendmail hands mail over. By default that of the data folder, which only its user can read.',
      limit: 'an API key such as svckey_…',
      secret: true,
    },
    sendKey,
  ),
  spool: optionalWritten(
    {
      description:
        'Folder in which postern sendmail keeps mail while the daemon is away. By default spool in the data folder, if a setting names that by an absolute path.',
      limit: 'the absolute path of a folder',
    },
    absolutePath,
  ),
  localRecipient: optionalWritten(
    {
      description:
        'Who gets the mail that postern sendmail is given for names without a domain, such as that of cron to root. By default those names at the host name of the service.',
      limit: 'a mail address such as admin@example.org',
    },
    emailAddress,
  ),
})
