/** Texts of `postern --help` and `postern COMMAND --help`. */

/** Options that select another daemon. `width` is the column of the descriptions. */
const elsewhere = (
  width: number,
): string => `  ${'--url URL'.padEnd(width)}call this daemon instead of that of the data folder (default: POSTERN_URL)
  ${'--key KEY'.padEnd(width)}API key for this daemon (default: POSTERN_API_KEY)`

const texts: Readonly<Record<string, string>> = {
  serve: `Usage: postern serve [--ready-file PATH]

Runs the daemon in the foreground until SIGTERM or SIGINT.

  --ready-file PATH  writes the addresses of the listeners as JSON into this file when all of them are open

Until the service has an owner, each start prints a link that makes you the owner, an API key and an SMTP login.
Exit codes: 0 stopped, 1 cannot start, 64 wrong arguments, 65 the store is damaged and needs manual repair, 70 the
store failed (start again), 78 wrong settings.
`,
  send: `Usage: postern send --from ADDRESS --to ADDRESS [--to ADDRESS]... [OPTIONS]

Sends one message through a running daemon and prints the decision. The text comes from the standard input
unless --text or --html is present.

  --subject TEXT   subject (default: Test)
  --text TEXT      text of the message; - reads it from the standard input
  --html HTML      HTML of the message, with or without a text
  --json           print the response as JSON
${elsewhere(17)}
`,
  tail: `Usage: postern tail [--json]

Prints the decisions of the running daemon of this data folder as they happen: accepted and refused messages,
delivery attempts, and destinations that fail or recover. Press Ctrl-C to stop.

  --json   print one JSON object per line
`,
  logs: `Usage: postern logs --trace ID [FILE] [--json]

Prints the log lines of one message: from the latest lines of the running daemon, or from FILE. If FILE is -, the
command reads the standard input, such as the output of journalctl. Exit code 1 if no line matches.

  --trace ID  trace_id of the message
  --json      print the lines unchanged, one JSON object each
`,
  key: `Usage: postern key create NAME [OPTIONS]

Creates an API key and prints it. The key is shown only once.

  --scope SCOPE               api:read, api:send (default) or api:admin; each includes the previous ones
  --project ID                limit the key to one project
  --send-only                 allow only sending, without a scope; for websites
  --expires-at TIME           expiry such as 2027-01-31T12:00:00Z (default: no expiry)
  --failure-notices MODE      notices to authors about failed mail of a send-only key: auto (default), on or off
  --failure-notice-to ADDRESS  recipient of these notices instead of MAIL FROM
  --json                      print the response as JSON
${elsewhere(28)}
`,
  promote: `Usage: postern promote DESTINATION [OPTIONS]

Promotes the destination with this id to live: from now on, its mail is delivered to real recipients. Prints the
route to the destination. If no route leads to it, prints a warning with the missing step.

  --default-route   route all mail of the project to the destination
  --project ID      project for a destination of the whole organization
  --json            print the response as JSON
${elsewhere(18)}
`,
  sendmail: `Usage: postern sendmail [-t] [-i] [-f ADDRESS] [-F NAME] [ADDRESS]...
       postern sendmail -q

Replaces /usr/sbin/sendmail: reads a message from the standard input and passes it to the running daemon. While
the daemon is away, stores the message in the spool folder. Exits with 0 when the message is on disk.

  -t          add the recipients in To, Cc and Bcc of the message; Bcc is always removed
  -i, -oi     do not end the message at a line with only a dot
  -f ADDRESS  envelope sender (default: From of the message); -r is the same
  -F NAME     name of the sender for a message without From
  -q          send the spooled messages; the next message and the start of the daemon send them too

Other options of sendmail are accepted and have no effect; -bs, -bd, -bp and similar modes are refused.
The API key is POSTERN_SENDMAIL_KEY, then POSTERN_API_KEY, then that of the data folder in POSTERN_DATA_DIR, which
must be an absolute path. If none of them is set, the command fails and stores nothing.
Exit codes (sysexits.h): 64 wrong arguments, 65 invalid message, 69 refused by the daemon, 73 the spool cannot be
written, 75 (-q) messages are left, 77 missing or wrong key, 78 wrong settings or no daemon configured.
`,
  capture: `Usage: postern capture [OPTIONS] [-- COMMAND ARGUMENTS...]

Runs an instance for mail tests. It captures all mail, stores nothing permanently and connects only to this machine.
With a command, it sets SMTP_HOST, SMTP_PORT, SMTP_USERNAME, SMTP_PASSWORD, SMTP_URL, POSTERN_URL, POSTERN_API_KEY
and POSTERN_INBOX_ID, runs the command and exits with its exit code. Without a command, it runs until SIGTERM or
Ctrl-C.

  --json              print a line of JSON first: smtp, http, api_key and inbox_id
  --smtp-port PORT    SMTP port on 127.0.0.1 (default: a free port)
  --http-port PORT    HTTP port on 127.0.0.1 (default: a free port)
  --expect WHAT       expected mail at the end, such as 'to=ada@example.com subject~=Welcome count=1'
  --expect-file FILE  file with one expectation per line
  --wait SECONDS      maximum wait for mail after the tests (default: 5)
  --junit FILE        write the result of each expectation as JUnit XML
  --suppress          add recipients to the suppression list after bounces and complaints
  --verbose           log to the standard error

Recipients such as defer@, refuse@, bounce@, slow@, dsn@ and complaint@, at any domain, simulate these failures.
Exit code: that of the command; 1 if an expectation is not met.
`,
  import: `Usage: postern import suppressions FILE [OPTIONS]
       postern import templates FILE [OPTIONS]

Imports a file exported from another service: suppression lists as CSV or JSON, templates as JSON, or one template
as HTML or text. Prints each refused entry with the reason. A repeated import adds nothing twice.

  --from SERVICE    resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet or ses (default:
                    detect the service)
  --dry-run         report the result and store nothing
  --project ID      project of the entries (default: that of the key)
  --kind KIND       for a list: bounces, blocks, complaints, unsubscribes, invalid, manual or allowed
  --list NAME       list of the unsubscribes; * is every list
  --from-row N      start at this row of a list
  --subject TEXT    subject for a template in HTML or text
  --replace         create a new version of a template that exists with other content
  --json            print the report as JSON
${elsewhere(18)}

Exit code 1 if an entry was refused.
`,
  queue: `Usage: postern queue list [FILTER] [--held] [OPTIONS]
       postern queue hold|release|expedite|drop FILTER [--reason TEXT] [--yes] [OPTIONS]
       postern queue hold --standing FILTER [--reason TEXT] [--yes] [OPTIONS]
       postern queue release --hold ID [--yes] [OPTIONS]
       postern queue holds [OPTIONS]

Lists queued messages, holds them, releases held messages, makes retries due now, or drops messages without
delivery. Without --yes, the command only counts the messages. A standing hold also holds new messages until you
release it.

FILTER (a message must match all options):
  --destination ID   queued for this destination
  --project ID       of this project
  --to-domain NAME   with a recipient in this domain
  --from ADDRESS     from this address, or from a domain: @example.com
  --older-than AGE   accepted longer ago than 30m, 2h or 3d
  --attempts N       after at least N attempts
  --trace ID         this message; can be repeated; not for list
  --all              every message; list needs no filter

  --limit N          for list: maximum number of messages (default: 50)
  --standing         also hold messages that are accepted later
  --hold ID          standing hold to release, with its messages
  --reason TEXT      reason for the traces and the audit log
  --yes              run the action
  --organization ID  act as the operator in this organization, with POSTERN_OPERATOR_KEY
  --json             print the response as JSON
${elsewhere(19)}
`,
  findings: `Usage: postern findings [OPTIONS]

Lists the problems that the daemon found in the organization: mail, providers, webhooks, domains, forms and limits,
each with its cause and remedy. For problems of the service itself use postern doctor.

  --project ID   only findings of this project and of the whole organization
  --over         list findings that ended in the last 30 days
  --json         print {"data": [...]} with the findings of GET /v1/findings
${elsewhere(15)}
`,
  deploy: `Usage: postern deploy FOLDER --site NAME [OPTIONS]

Deploys a folder as a website: sends the files that the website does not have yet, then publishes all of them in one
step. Creates the website if it does not exist. Prints problems of its pages, and the address.

  --site NAME   name or id of the website
  --preview     do not publish the files; print the address of a preview
  --json        print the response as JSON
${elsewhere(14)}

Skips __MACOSX, Thumbs.db, and names that begin with a dot except .well-known.
`,
  'login-link': `Usage: postern login-link ADDRESS [--next PATH]

Prints a link that signs in this mail address once, within 15 minutes. Calls the running daemon, or opens the data
of a stopped one. The first person who signs in becomes the owner of the service.

  --next PATH  page of the service after the sign-in, such as /traces (default: /)
`,
  backup: `Usage: postern backup FILE [--since BACKUP] [--passphrase-file PATH] [--force]

Backs up all data as of one point in time, from the running daemon or from the data folder of a stopped one: the
store, the master key, the certificate and the other files of the data folder. FILE - is the standard output.

  --since BACKUP          back up only changes since this backup; to restore, name both in this order
  --passphrase-file PATH  file with the passphrase (default: POSTERN_BACKUP_PASSPHRASE)
  --force                 replace FILE if it exists

With a passphrase, the backup is encrypted (AES-256-GCM, scrypt). Without one, keep the file secret.
The file gets its name when all of it is on disk. If the store is damaged, the command exits with 1 and writes no file.
`,
  restore: `Usage: postern restore BACKUP [INCREMENTAL]... --into FOLDER [--passphrase-file PATH]

Restores a full backup, followed by its incremental backups in order, into a new or empty folder. A failed restore
leaves a mark in the folder, and no daemon starts there. BACKUP - is the standard input.

  --passphrase-file PATH  file with the passphrase (default: POSTERN_BACKUP_PASSPHRASE)
`,
  migrate: `Usage: postern migrate --from PLACE --to PLACE [--replace] [--ahead]

Copies the store and compares the copy with its source. A PLACE is a data folder, or a database such as
postgresql://user@host/database. No daemon may run on either place. Keys and certificates stay in the data folder,
because they are not part of the store. Large values of a database become objects if POSTERN_STORE_OBJECTS is set, and
rows otherwise. To repeat a failed copy, run the same command again.
After the copy, no daemon starts on the source, because both stores would send the same mail.

  --replace  delete the data in the database first
  --ahead    copy from a data folder into a database while the daemon runs; then stop the daemon and run the
             command without --ahead to copy later changes
`,
  verify: `Usage: postern verify [BACKUP] [--passphrase-file PATH]
       postern verify --accept-losses

Compares the files of the store with their checksums, and checks that records, indexes, contents, counters and
queue agree. Uses the running daemon, which keeps working and spends at most half of the time on the check, or the
data of a stopped one. With BACKUP, checks that a backup is complete. Exit code 1 if there is a problem.

  --accept-losses   continue without records that damage has destroyed, so that lists and backups work again; for
                    a stopped daemon, if no backup can be restored
`,
  doctor: `Usage: postern doctor [--json]

Checks this machine and the configuration: Node, data folder, master key, certificate, name servers, clock
and ports. With a running daemon, also checks the records of every sending domain, blocklists and reverse names of
its addresses, disk, open files, destinations, parked webhooks, silent sources and the last backup.
Each finding includes a remedy. Exit code 1 if there is an error or a warning.

  --json   {"ok", "findings": [{"id", "severity", "summary", "fix"}]}
`,
  setup: `Usage: postern setup [OPTIONS]

Guides you through the first installation for a domain: asks for unknown values, shows and writes the changes to
the configuration file, and checks ports, disk, clock, DNS, reverse DNS, blocklists and outgoing connections. Then
prints the DNS records as a zone file and sends a first mail, which is captured. Uses the running daemon, or starts
a temporary one. A repeated setup does not change correct settings.

  --domain NAME     domain of the senders
  --host NAME       public name of this machine
  --email ADDRESS   mail address of the operator, who gets alerts and may sign in
  --url ADDRESS     public address of the HTTP listener, or none
  --public yes|no   whether other machines submit mail here and bounces return here
  --certificate acme|files|proxy  source of the certificate for other machines: Postern orders it by ACME (which
                    accepts the terms of the authority), it is in files, or a reverse proxy serves HTTPS
  --certificate-file PATH, --key-file PATH  the PEM files; with a proxy, for the mail ports, or none
  --spf MECHANISM   SPF mechanism of your provider, or none
  --config PATH     file to write (default: POSTERN_CONFIG; for root /etc/postern/postern.json if it exists; then
                    ./postern.json)
  --zone PATH       also write the records into this file
  --force           replace the file of --zone if it exists
  --outgoing HOST:PORT  server for the test of outgoing mail; can be repeated; none skips the test (default: a
                    mail server of Gmail on port 25, and its submission server on port 587)
  --yes             accept the default of every question without a flag

Exit code 1 if a check failed or the file was not written.
`,
  config: `Usage: postern config

Prints the effective configuration as JSON, with secrets masked. config/settings.md describes every setting.
`,
  licenses: `Usage: postern licenses [--sbom]

Prints the licences of third-party software in this program, with their texts.

  --sbom   print the bill of materials instead (CycloneDX, JSON)
`,
}

/** Printed for `--help`. */
export const helpText = `Usage: postern COMMAND

  setup               guided installation for a domain
  serve               run the daemon in the foreground until SIGTERM
  send                send one message and print the decision
  tail                print decisions of the daemon as they happen
  logs --trace ID     print the log lines of a message
  sendmail            replace /usr/sbin/sendmail
  capture             run an instance for mail tests, which captures all mail
  key create NAME     create an API key
  promote DESTINATION promote a destination to live, optionally with a route
  import WHAT FILE    import suppressions or templates of another service
  deploy FOLDER       deploy a website; sends only new files
  queue WHAT          list, hold, release, expedite or drop queued messages
  findings            list problems of mail, providers, webhooks and domains
  login-link ADDRESS  print a sign-in link for this mail address
  backup FILE         back up all data, while the daemon runs
  restore FILE        restore backups into an empty folder
  migrate             copy the store into a database, or back
  verify [FILE]       check that stored data agrees, or that a backup is complete
  doctor              check the machine, the configuration and the running daemon
  config              print the effective configuration, with secrets masked
  licenses            print third-party licences, or the bill of materials
  operator WHAT       manage plans, flags, prices and invoices of all organizations

  help [COMMAND]      same as --help

  --help, --version

postern COMMAND --help describes each command.
Settings come from the JSON file that POSTERN_CONFIG names and from POSTERN_* variables; see config/settings.md.
`

/** Returns the help of a command, or the general help if the command is unknown. */
export const commandHelp = (name: string): string => texts[name] ?? helpText

/** A hint to the help of a command. */
export const helpOf = (command?: string): string => `Try postern ${command === undefined ? '' : `${command.replace(/ .*/, '')} `}--help.`
