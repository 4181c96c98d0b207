# Sends the letter with Action Mailer, which is set up by a file of config/environments: rails.rb CONFIGURATION [CODE].
# CODE sends instead.
require 'action_mailer'
require 'ostruct'

config = OpenStruct.new(action_mailer: OpenStruct.new)
eval(File.read(ARGV[0]))
config.action_mailer.each_pair do |name, value|
  # As the railtie of Action Mailer does.
  name == :default_options ? ActionMailer::Base.default(value) : ActionMailer::Base.public_send("#{name}=", value)
end

class Letters < ActionMailer::Base
  def letter
    attachments[ENV['LETTER_NAME']] = File.binread(ENV['LETTER_FILE'])
    mail(to: ENV['LETTER_TO'], bcc: ENV['LETTER_BCC'], subject: ENV['LETTER_SUBJECT']) do |format|
      format.text { render plain: ENV['LETTER_TEXT'] }
      format.html { render html: ENV['LETTER_HTML'].html_safe }
    end
  end
end

ActionMailer::Base.logger = nil
unknown = ActionMailer::Base.smtp_settings.keys - Mail::SMTP::DEFAULTS.keys
abort "no such setting: #{unknown}" unless unknown.empty?
puts ActionMailer::Base.smtp_settings.slice(:tls, :enable_starttls, :enable_starttls_auto).compact.inspect
ARGV[1] ? eval(ARGV[1]) : Letters.letter.deliver_now
