"""Notes by kind: what they state, what they end, and what they do not state.

A line is a note, with the relations of the user that hold, then ``|`` and those that ended.
"""

from __future__ import annotations

import pytest

from kiprdf.memory import FoundEdge, extract
from tests.cases import each_case

PAST = """
We were using Mongo before. => | uses MongoDB
I had been using Emacs. => | uses Emacs
I no longer use Docker, I use Podman. => uses Podman | uses Docker
We previously used Jenkins for builds. => | uses Jenkins
I used to use Vim. => | uses Vim
I used to prefer tabs. => | prefers tabs
I used to like Perl a lot. => | prefers Perl
We stopped using Jenkins last month. => | uses Jenkins
I quit using Slack. => | uses Slack
We don't use MySQL anymore. => | uses MySQL
I no longer use Jenkins, Ansible or Docker. => | uses Jenkins, uses Ansible, uses Docker
I no longer use npm or Yarn but pnpm. => uses pnpm | uses npm, uses Yarn
I'm not using Terraform any more. => | uses Terraform
Formerly we used Redis for queues. => | uses Redis
In the past I used Sublime Text. => | uses Sublime Text
We were going with Snowflake until finance said no. => | decided Snowflake
I no longer work on Harbor. => | works_on Harbor
I stopped working on Tidepool. => | works_on Tidepool
I was working on Pelican until March. => | works_on Pelican
Back in college I was using Java. => | uses Java
We used Trello before, now we use Jira. => uses Jira | uses Trello
I gave up on Haskell. => | uses Haskell
"""

DENIED = """
I don't like Python anymore. => | prefers Python
I misspoke, I don't use Kafka. => | uses Kafka
Scratch that: not Redis. => | uses Redis, prefers Redis, decided Use Redis
I use Vim instead of Emacs. => uses Vim | uses Emacs
I use Vim, not Emacs. => uses Vim | uses Emacs
Correction: I use Podman, not Docker. => uses Podman | uses Docker
Actually it's Podman, not Docker. => | uses Docker, prefers Docker, decided Use Docker
We never use Oracle. => | uses Oracle
I do not prefer tabs. => | prefers tabs
I'm not using Kubernetes. => | uses Kubernetes
Correction: I don't use Windows. => | uses Windows
I dislike Jira. => | prefers Jira
I hate PHP. => | prefers PHP
We aren't using GraphQL. => | uses GraphQL
I don't enjoy Perl. => | prefers Perl
I do not use either Vim or Emacs. => | uses Vim, uses Emacs
I don't really like Java. => | prefers Java
The user doesn't use Docker. => | uses Docker
The user no longer prefers dark mode. => | prefers dark mode
"""

ORDER = """
I use Docker. I no longer use Docker. => | uses Docker
I use Docker. I don't use Docker. => | uses Docker
I no longer use Docker. I use Docker again. => uses Docker
I use Docker. I no longer use Docker, I use Podman. => uses Podman | uses Docker
We decided to use Redis. We reversed the decision to use Redis. => | decided Use Redis
We dropped the decision not to use Kafka. => | decided Not to use Kafka
She reversed the decision to use Redis. =>
"""

REPLACED = """
I use Podman instead of Docker now. => uses Podman | uses Docker
I'm using Podman rather than Docker these days. => uses Podman | uses Docker
I use Vim instead of Emacs for notes now. => uses Vim
Now using Podman instead of Docker. => uses Podman | uses Docker
We dropped npm and adopted pnpm. => uses pnpm | uses npm
I no longer use npm but pnpm. => uses pnpm | uses npm
We stopped using Jenkins and moved to GitLab. => uses GitLab | uses Jenkins
We swapped npm for pnpm. => uses pnpm | uses npm
Docker has been replaced by Podman. => uses Podman | uses Docker
In our stack, Docker was replaced with Podman. => uses Podman | uses Docker
Docker has been replaced by Podman in most companies. =>
npm is out, pnpm is in. => uses pnpm | uses npm
Docker 27 is out, and Podman is in trouble. =>
"""

SWITCH = """
We switched from npm to pnpm. => uses pnpm | uses npm
I moved from Heroku to Netlify last week. => uses Netlify | uses Heroku
We replaced Jest with Vitest. => uses Vitest | uses Jest
We migrated away from MongoDB. => | uses MongoDB
I've switched to Podman. => uses Podman
We have moved off Jenkins. => | uses Jenkins
I ditched Chrome for Firefox. => uses Firefox | uses Chrome
We dropped Webpack in favor of Vite. => uses Vite | uses Webpack
Switched from Vim to VS Code. => uses VS Code | uses Vim
The user switched from Evernote to Obsidian. => uses Obsidian | uses Evernote
I swapped Slack for Discord. => uses Discord | uses Slack
We're thinking about switching from npm to pnpm. =>
We should replace Jest with Vitest. =>
Sarah switched from npm to pnpm. =>
They moved from Heroku to Netlify. =>
Did you switch from npm to pnpm? =>
We will migrate from MySQL to PostgreSQL next year. =>
If we switched from npm to pnpm, builds would be faster. =>
We haven't switched from npm to pnpm yet. =>
We went from MySQL to PostgreSQL. => uses PostgreSQL | uses MySQL
"""

PLAN = """
Ideas for 2027¶- building a greenhouse¶- going with heat pumps =>
Once the grant arrives we're building a lab. =>
Explain it like I'm using Git for the first time. =>
If the budget allows, we're going with Snowflake. =>
Once approved, we are using Terraform. =>
We'll be using Docker next year =>
I like the idea of using Elixir, but we won't. =>
TODO: start using Poetry =>
Try using Redis for this. =>
Tried using Elixir once. =>
I'm going to use Rust. =>
We're going with Postgres if legal agrees. =>
Assuming the trial goes well, I'm choosing Datadog. =>
We plan on using Kafka. =>
Should I end up building Harbor, I want help. =>
Maybe start working on Tidepool. =>
I need to start using Docker. =>
I would be using Emacs if I had time. =>
Next sprint we will be working on Pelican. =>
I want to like Haskell. =>
Consider using Redis. =>
You could try using Vim. =>
I like the thought of dropping Jira. =>
As soon as the license arrives, we're using Tableau. =>
Until we hire, we are going with Heroku. =>
When in doubt, use SQLite. =>
I'd prefer Rust. =>
I wish I was using Rust. =>
I almost decided to use MongoDB. =>
We have yet to start using Bazel. =>
"""

OTHERS = """
Tom left Google and is building a robot. =>
I have a friend building boats. =>
I inherited a site built with Drupal. =>
I was given an example using Flask. =>
Compared to using Maven, Gradle is faster. =>
Spent the evening with Julia and Ruby. =>
Priya - working on Atlas =>
Tom's setup: I use Emacs =>
Per the vendor: we use SFTP and prefer Docker. =>
The day I decided to quit was sunny. =>
I'm good at building boats. =>
Competitors using Snowflake win. =>
Today I read about using Rust with WebAssembly for games. =>
a tutorial on building chatbots with LangChain =>
the article compares Docker with Podman =>
We went with Sarah to the meeting with Docker folks. =>
The app integrates with Slack. =>
People using Windows complain a lot. =>
Most startups are building apps with React. =>
My wife prefers Android. =>
Anna decided to use Docker. =>
The vendor is going with Azure. =>
Watched a talk about building compilers with LLVM. =>
The customers use Salesforce. =>
A team using Kubernetes asked for help. =>
Netflix is using Kafka. =>
The docs recommend using Poetry. =>
I met the Docker team. =>
Bob says he likes Vim. =>
There was a workshop on using Terraform. =>
She told me she is working on Tidepool. =>
Ada said: I use Vim. =>
Users prefer dark mode. =>
The plugin is compatible with Vim. =>
The book is about developing games with Unity. =>
I asked whether they are using Redis. =>
An engineer working on Harbor left. =>
I helped a client with Docker. =>
I had a call with Google Cloud support. =>
"""

TRANSCRIPTS = """
USER: I use Vim¶ASSISTANT: I use Emacs => uses Vim
me: i prefer tabs¶bot: I prefer spaces => prefers tabs
Human: I'm working on Harbor.¶Assistant: I'm working on Tidepool. => works_on Harbor
[10:32] Ada: I use Docker¶[10:33] Bob: I use Podman =>
Ada: I use Docker.¶Bob: I prefer Vim. =>
User: I use Vim. Assistant: I use Emacs. => uses Vim
**User:** I like Rust.¶**Assistant:** I like Go. => prefers Rust
Assistant: I decided to use SQLite.¶Great, I use Python. =>
user> I use Vim¶ai> I use Emacs => uses Vim
10:32 me: I use Docker¶10:33 support: we use Jira => uses Docker
AI: I prefer Java.¶Human: I prefer Kotlin. => prefers Kotlin
Assistant: I'd use Redis.¶¶User: I use Memcached. => uses Memcached
Alice (PM): we decided to use Jira.¶Carl (Dev): I use Vim. =>
Note: I use Vim. => uses Vim
Update: we use Redis.¶Decision: I prefer tabs. => uses Redis, prefers tabs
bot: Which editor do you use?¶me: helix => uses Helix
bot: Do you use Hugo or Gatsby?¶me: hugo, mostly => uses Hugo
bot: Which database do you like?¶me: Postgres => prefers PostgreSQL
bot: Which shell?¶me: fish¶bot: Which editor should I use?¶me: vim => uses Fish
bot: Which editor did you use before?¶me: vim =>
bot: Which editor do you use?¶me: not vim =>
bot: Which editor do you use?¶me: vim or emacs =>
bot: Which editor do you use? I like Vim.¶me: vim is fine =>
bot: Which editor does your boss use?¶me: vim =>
bot: What city do you live in?¶me: Phoenix =>
bot: Do you use Vim?¶me: yes =>
me: Which editor do you use?¶bot: vim =>
system: You are helpful.¶user: I'm using Go. => uses Go
ChatGPT: I recommend Rust. I use Rust.¶Me: I use Zig. => uses Zig
2024-05-01 10:00 Ada: I use Vim¶2024-05-01 10:01 Me: I use Emacs => uses Emacs
"""

IDIOMS = """
What I like most is working with people. =>
What I like best about Rust is the compiler. =>
I like to inform you that we finished the report. =>
I like to sleep late. => prefers sleep late
working on the weekend =>
building trust with customers =>
Going with my gut here: skip the rewrite. =>
going with friends to Rome =>
I'm developing a cold. =>
I am choosing my words carefully. =>
Working on myself. =>
I'm going with the flow. =>
We are building momentum. =>
I was working on Sunday. =>
I am developing a taste for coffee. =>
Building up courage. =>
Going with Sarah to the cinema. =>
Working on my tan. =>
I'm working on Christmas Day. =>
We are building relationships with customers. =>
I'm developing feelings for her. =>
Going with my family to the beach. =>
I'm choosing happiness. =>
I am building muscle. =>
I'm working on it. =>
Working on an empty stomach. =>
I use my head. =>
"""

MODELS = """
The user prefers Python. => prefers Python
User uses Docker. => uses Docker
User decided to use SQLite. => decided Use SQLite
My favourite editor is Helix. => prefers Helix
We agreed to use Bun for scripts => decided Use Bun for scripts
The user is working on Harbor. => works_on Harbor
The user likes dark mode. => prefers dark mode
User enjoys Rust. => prefers Rust
The user has decided to use Postgres. => decided Use Postgres
The user always uses Docker. => uses Docker
User's favorite language is Kotlin. => prefers Kotlin
The user is using Redis. => uses Redis
The user prefers Vim. They use Docker. => prefers Vim, uses Docker
User is building invoice-bot with FastAPI. => works_on invoice-bot, uses FastAPI
- User prefers tabs => prefers tabs
The user switched from npm to pnpm. => uses pnpm | uses npm
My preferred shell is fish. => prefers fish
The user asked about Docker. =>
The user interface uses React. =>
Users like Vim. =>
The user might prefer Go. =>
The user wants to use Rust. =>
The user chose to use Deno. => decided Use Deno
My favorite language used to be Perl. =>
The user's boss prefers Java. =>
Her favourite editor is Helix. =>
"""

ENGLISH = """
I am use Docker. => uses Docker
I prefer to use the Python. => prefers Python
we using Redis since two years => uses Redis
I am prefer Vim. => prefers Vim
I using Docker every day. => uses Docker
We are use Jira since 2020. => uses Jira
I am working in project Harbor since one month. =>
I have decided for to use Rust. => decided Use Rust
I like very much Python. => prefers Python
I not use Windows. => | uses Windows
We am using Kafka. => uses Kafka
i'm use vim => uses Vim
"""

PLAIN = """
I write all my scripts in Ruby. => uses Ruby
We're on Django. => uses Django
We run PostgreSQL in production. => uses PostgreSQL
For deployments we rely on Ansible. => uses Ansible
We've settled on MySQL. => decided MySQL
Decision: keep the old logo until summer => decided Keep the old logo until summer
I love hiking. => prefers hiking
I prefer answers in French. => prefers answers in French
I host my blog with Netlify. => uses Netlify
I use Docker. => uses Docker
I prefer Python. => prefers Python
I'm working on Harbor. => works_on Harbor
I've been using Vim for years. => uses Vim
When I code, I use Vim. => uses Vim
I decided to use SQLite. => decided Use SQLite
Using Redis for the cache. => uses Redis
I write scripts using Python. => uses Python
Parsed the log with pandas. => uses pandas
I like tea. => prefers tea
We use Redis and Kafka in production. => uses Redis, uses Kafka
I built the bot with LangChain. => uses LangChain
I use Podman instead of Docker. => uses Podman | uses Docker
I use Docker although my boss hates it. => uses Docker
"""


WORDINGS = """
I love Elixir. => prefers Elixir
I'm a big fan of Svelte. => prefers Svelte
The user adores Rust. => prefers Rust
Svelte has my heart. => prefers Svelte
I can't get enough of jazz. => prefers jazz
I'm a tea person. => prefers tea
I'd choose trains over planes every time. => prefers trains
My preference is window seats. => prefers window seats
I rely on Ansible for our servers. => uses Ansible
I can't live without Bitwarden. => uses Bitwarden
Obsidian is what I reach for. => uses Obsidian
Redis handles our queues. => uses Redis
All my notes are in Notion. => uses Notion
Editor: Helix => uses Helix
I write my novel in Scrivener. => uses Scrivener
I draw all my diagrams with Inkscape. => uses Inkscape
We collaborate on Mattermost. => uses Mattermost
Our team uses Zulip. => uses Zulip
I am using since two years the PyCharm. => uses PyCharm
Busy with Heronsgate this week. => works_on Heronsgate
Heronsgate keeps me busy. => works_on Heronsgate
This week: Heronsgate. => works_on Heronsgate
I've been on Tamarind since March. => works_on Tamarind
Tamarind is my current project. => works_on Tamarind
My current project is Tamarind. => works_on Tamarind
Most of my day goes into Kestrel, our billing service. => works_on Kestrel
We went with Hetzner. => decided Hetzner
We picked the blue logo. => decided The blue logo
I decided that we drop the old importer. => decided Drop the old importer
"""

UNSTATED = """
Busy with Christmas. =>
I'm on vacation. =>
Dinner keeps me busy. =>
Their stack: PHP, MySQL. =>
My brother's editor is Vim. =>
My old editor was Vim. =>
My question is Docker. =>
We picked up the kids. =>
We went with my sister to the beach. =>
Everybody in my team loves Kotlin. =>
Rosa swears by Obsidian. =>
The intern I trained is now building dashboards with Grafana. =>
I enjoy Jira. Who doesn't. =>
I absolutely adore Jira. Said nobody ever. =>
Oh sure, I enjoy Jira. =>
My boss keeps saying we use Excel. =>
As Knuth put it, I prefer TeX. =>
The poster reads: We decided to care. =>
Lyrics: I'm working on a building. I love it. =>
You'd think I use Linux. =>
Please forget that I use Windows. =>
Delete the note that I like Java. =>
I use {tool} and prefer <language>. =>
I'm working on {project}. =>
ben> I use Docker =>
[assistant] I use Python =>
I use a pandas mug. =>
I like 5 Kirchgasse, 8001 Zürich. =>
I like my flat in Lindenweg 8, 8004 Zurich. =>
We settled on Kungsgatan 44, 111 35 Stockholm. =>
I prefer coffee, my brother prefers tea. => prefers coffee
"""

FINISHED = """
I finished Lumen last week. => | works_on Lumen
Lumen is done. => | works_on Lumen
I'm done with Lumen. => | works_on Lumen
We shipped Lumen. => | works_on Lumen
We've finally wrapped up Lumen. => | works_on Lumen
The user finished the Lumen project. => | works_on Lumen
I'm not on Lumen anymore. => | works_on Lumen
I finished Lumen's login page. =>
Lumen is not done. =>
Is Lumen done? =>
Once Lumen is done, I take a holiday. =>
We haven't shipped Lumen. =>
When I was at the bank I was working on Ledgerline. => | works_on Ledgerline
Back then I was working on Nimbus. => | works_on Nimbus
I no longer use Docker at work, only at home. =>
We phased out Jenkins. => | uses Jenkins
"""


ASIDE = """
We went with Stripe in the end. => decided Stripe
We settled on Postgres at last. => decided Postgres
We decided to rent the hall after all. => decided Rent the hall
I chose the night train after some discussion. => decided The night train
We decided to end the contract in the end. => decided End the contract
We went with the red one. => decided The red one
We decided to stop at the end of the quarter. => decided Stop at the end of the quarter
We chose the end seat. => decided The end seat
We agreed to meet after long weekends. => decided Meet after long weekends
We agreed on the phone. =>
We agreed over lunch that invoices go out monthly. => decided Invoices go out monthly
We agreed at the meeting to freeze the code. => decided Freeze the code
We decided on Monday, then went home. =>
We decided in the corridor. =>
We agreed on weekly releases. => decided Weekly releases
We decided on Postgres. => decided Postgres
We settled on the meeting room upstairs. => decided The meeting room upstairs
I agreed with Marta to keep the invoices on paper. => decided Keep the invoices on paper
We decided on Friday to sell the van. => decided Sell the van
Team agreed this morning to freeze deployments on Fridays. => decided Freeze deployments on Fridays
We agreed on a lunch budget of ten euros. => decided A lunch budget of ten euros
On Thursdays we used to meet in the Phoenix, the pub by the river. =>
We used to deploy with Jenkins. =>
I used to write in Go. =>  | uses Go
We used to host everything on Heroku. =>
I used to sing with Ruby. =>
I used to use Vim. =>  | uses Vim
I write in Go. => uses Go
I'm used to writing everything in Vim. =>
We host everything on Heroku. => uses Heroku
# I use vim btw¶alias v=nvim¶export EDITOR=nvim =>
export EDITOR=hx =>
set editor=vim =>
EDITOR=nvim =>
let editor = "helix" =>
EDITOR="vim" =>
Editor: Helix => uses Helix
My editor is Neovim. => uses Neovim
Stack: Python, Docker => uses Docker, uses Python
Everyone at the conference was on about Rust, I went for the cake. =>
I went for the fish. =>
We went for Thai last night. =>
I went with the soup. =>
We went with a pizza and a beer. =>
I went for a run. =>
We went for the cheaper plan. => decided The cheaper plan
We went for Postgres. => decided Postgres
We went with the blue tiles. => decided The blue tiles
I went for option B. => decided Option B
We went with Hetzner. => decided Hetzner
Draft for Lena, she'll send it as hers: I have been working on the Osprey proposal. =>
Text for my boss: I use Docker daily. I prefer tea. =>
Email from Tom: we decided to use Redis. =>
A reply for Ana to send:¶I'm working on Tidepool. =>
Bio for Jonas: I'm building Harbor and I love Go. =>
Speech for the wedding, my sister will read it: I prefer dogs. =>
Status: we decided to use Redis. => decided Use Redis
Line stuck in my head since breakfast: I'm building a ladder up to the moon. Who sings that? =>
Chorus: I'm working on a dream. =>
A line from the film: I prefer the dark. =>
Seen on a mug: I love Perl. =>
Going round in my head all day: I use Docker, I use Docker. =>
"""


EVERYDAY = """
For my brother it's Windows. =>
For our old clients it's Windows. =>
For my notes it's Obsidian. => uses Obsidian
For Tom it's Windows. =>
Tom says everything lives in Notion. =>
If you ask her, nothing beats Perl. =>
They agreed over lunch that Redis stays. =>
My boss went for Postgres. =>
She has been reaching for ripgrep. =>
Their team agreed this morning to use Redis. =>
Language: Go to the settings =>
Her shell: fish =>
Tom's editor: Helix =>
We should have agreed at the meeting to use Redis. =>
Would you rather write Go than Java? =>
I never said that I'd rather write Go than Java. =>
Nobody says that nothing beats Perl. =>
They signed out of Slack for good. =>
He never touches PHP. =>
As of May it's Docker, if they sign. =>
Maybe at home it's Arch. =>
I do all my charting in Epic now. => uses Epic
Terraform does our infra. => uses Terraform
Jira does our heads in. =>
Our thesis group settled on Zotero for references. => decided Zotero for references
My lab uses Snakemake. => uses Snakemake
The lab of my brother uses Snakemake. =>
Our lab is in Phoenix. =>
I am working in the project room. =>
Nothing beats Python. => prefers Python
We haven't standardised on OpenTelemetry. =>
My editor, if I had the choice, would be Helix. =>
Setup: Python, Docker => uses Docker, uses Python
Shell: fish => uses Fish
Terminal: kitty => uses Kitty
Shell: black from the sea =>
Next stack: Go =>
Everything sits in the Linear backlog of another team. =>
Everything lives in harmony. =>
If everything lives in Notion, I am lost. =>
Been on Neovim for about three years and I'm not going back. => uses Neovim
Been on Firefox since forever. => uses Firefox
Been on holiday for three weeks. =>
She has been on Windows for years. =>
At home it's Arch. => uses Arch Linux
These days it's Podman. => uses Podman
It's Friday now. =>
Is it Helix now? =>
At work it's raining. =>
I'd rather write Go than Java any day. => prefers Go
I'd rather use the stairs than wait. => prefers stairs
I'd rather eat glass than use Jira. =>
Would I rather write Go than Java? =>
She'd rather write Go than Java. =>
Nothing beats Blender for me. => prefers Blender
Nothing beats Python in speed. =>
My brother says nothing beats Perl. =>
Python > 3.8 =>
File > Settings =>
For Ada, Python > Java. =>
I keep reaching for ripgrep. => uses ripgrep
I find myself using Docker a lot. => uses Docker
I never touch PHP anymore. =>  | uses PHP
I don't touch PHP. =>  | uses PHP
I touch Docker now and then. =>
I've stopped bothering with Trello. =>  | uses Trello
I bother with Trello once a week. =>
I signed out of Slack for the weekend. =>
Figma is where I spend my days. => uses Figma
Prison is where I spend my days. =>
Their decision from the call: use Redis. =>
Outcome of the vote: open =>
They're reversing the decision to close the clinic. =>
We may be reversing the decision to close the clinic. =>
Back to work for me. =>
Back to the hotel for me. =>
I'm juggling three balls. =>
I'm working on Orchid if they pay. =>
"""


FOLLOWED = """
I use Redis for anything that must be quick. => uses Redis
The user uses Emacs daily to study Japanese and would like more packages. => uses Emacs
We use Kafka because three teams read the same events. => uses Kafka
I'm working on Harbor for the city council, who want it by May. => works_on Harbor
The user enjoys hiking and is training for a marathon. => prefers hiking
The user prefers short replies and dislikes long ones. => prefers short replies
I prefer examples from cooking when you explain statistics. => prefers examples from cooking
I like full text search way more than a cluster. => prefers full text search
I like Postgres full text search. => prefers Postgres full text search
We decided to move the office and want a plan. => decided Move the office and want a plan
The user decided to move the office and wants a plan. => decided Move the office
I decided to keep the old logo, the printers were happy. => decided Keep the old logo
Slack is gone, we're on Linux now. => uses Linux
The user has a shop and prefers invoices in euros. => prefers invoices in euros
After ten years with Vim I've moved to Helix. => uses Helix | uses Vim
We dropped Jenkins last month, nobody misses it. => | uses Jenkins
Moved the blog from WordPress to Hugo over the weekend. => uses Hugo | uses WordPress
The user has a friend who paints and prefers tea. =>
I no longer use Docker at work. =>
I no longer use Docker for tests, everything else runs in it. =>
I use Docker if I must. =>
I use Docker, said nobody. =>
I love Jira, as much as a root canal. =>
I use Vim, not really. =>
I use Vim in theory. =>
I prefer Rust, my colleague thinks. =>
I use Redis, or so they say. =>
My boss says we use Redis and we use Kafka. =>
As Ada wrote, I use Emacs. =>
Next year, we use Redis. =>
I use Docker but stopped last week. =>
This library works with Python and Redis. =>
"""
"""Words that are not known after a clause, or before it."""

TAKEN_BACK = """
I use Docker. That was a joke. =>
I use Docker. I'm only joking, of course. =>
I use Docker. This is what he told me. =>
I use Docker. That was easy. => uses Docker
We decided to use Redis; that decision was overturned. =>
I use Docker, assuming the daemon starts. =>
We use Kubernetes as soon as the budget is there. =>
We use Kubernetes, or will once ops is done. =>
I installed Docker and removed it an hour later. =>
I use Docker but soon won't. =>
I use Docker (well, my colleague does). =>
I use Vim, no wait, Emacs. =>
I use Vim, sorry, Emacs. =>
I prefer tea, no, coffee. =>
I prefer tea, no sugar in it. => prefers tea
I use Docker, the candidate replied. =>
I use Docker -- Anna, 2021 =>
In the tutorial, I use Docker. =>
For this demo, I use Docker. =>
Step 2: I use pip to install Flask. =>
WARNING: using SQLite in production is discouraged =>
I decided to use Redis but my boss vetoed it. =>
I decided to use Redis and then decided not to. =>
I decided to think about it. =>
My lawyer insists, and I prefer tea. =>
There was a rumour and we use Docker. =>
"""
"""What comes later, or before, and makes a clause none of the user's."""

SUBJECTS = """
I use Vim and Tom uses Emacs and prefers tabs. => uses Vim
The user uses Vim, my boss uses Emacs and prefers tabs. => uses Vim
The user lives in Berlin, works as a nurse and prefers tea. => prefers tea
Our competitor is small, but uses Rust. =>
Our shop is small, but we use Rust. => uses Rust
I am married to a man who uses Vim. =>
I'm a friend of Tom who uses Emacs. =>
I'm the only one in a team who uses Emacs. =>
I'm a student in linguistics who uses Praat. => uses Praat
I'm a former Vim user. =>
I'm a heavy Vim user. => uses Vim
Running Docker as root is bad. =>
Using Docker, Tom built it. =>
Running Docker on Windows requires WSL. =>
Using Docker for the tests, because it is easy. => uses Docker
Runs on Linux. =>
Built with Rust. =>
Works with Slack and Jira. =>
I set up Jenkins for my mother's company. =>
I pay for Spotify for my daughter. =>
I pay for Kagi. => uses Kagi
I teach a class on Docker. =>
I teach my class on Zoom. => uses Zoom
I left Google and moved to Stripe as an engineer. =>
I'm responsible for Germany. =>
I'm busy with Tom. =>
I work on Wall Street. =>
Ella takes all my time. =>
I'd pick death over Jira. =>
I'd pick a train over a plane. => prefers train
We picked the wrong day. =>
My talk is on Docker. =>
My blog is on Ghost. => uses Ghost
My previous laptop runs Linux. =>
My laptop runs Linux. => uses Linux
Docker eats our memory. =>
Nextcloud keeps our photos. => uses Nextcloud
"""
"""What another is the subject of, or is no tool, project or preference of the user."""

UNREAD = """
I decided to stay and Tom decided to use Redis. => decided Stay
I no longer use npm, but I like Docker images. => prefers Docker images | uses npm
I am like the dark mode. => prefers dark mode
The service was built with Go. => uses Go
My go-to for charts is Matplotlib. => uses Matplotlib, prefers Matplotlib
At work I use Windows, at home Linux. => uses Windows, uses Linux
I'm a Vim person. => uses Vim, prefers Vim
Me and two friends are building Sidecarly. => works_on Sidecarly
The call is: ship on Friday. => decided Ship on Friday
Final answer: no server. => decided no server
Formerly using Ubuntu, these days Fedora. => | uses Ubuntu
Picked the oak table in the end, it was cheaper. => decided The oak table
As we agreed on the phone, invoices go out on the 5th. => decided Invoices go out on the 5th
As I agreed over lunch, the hall is ours until ten. => decided The hall is ours until ten
We agreed on phone support for all customers. => decided Phone support for all customers
I deploy with Jenkins and used to do it by hand. => uses Jenkins
I used to struggle, now I write everything in Rust. => uses Rust
editor = Vim => uses Vim
Draft for Friday: I'm working on Tidepool. => works_on Tidepool
Update for the team: I'm working on Tidepool. => works_on Tidepool
Note to self: I prefer tea. => prefers tea
Answer for you: I use Docker. => uses Docker
Last line of the minutes: we decided to use Redis. => decided Use Redis
Stuck today: I'm working on Tidepool. => works_on Tidepool
On the radio project: I'm using Python. => uses Python
pandas gets the job done for us => uses pandas
In this moment I am working in the project Belvedere. => works_on Belvedere
We've standardised on OpenTelemetry. => uses OpenTelemetry
My environment, if it helps: Python 3.12, Poetry, Ubuntu. => uses Poetry, uses Python, uses Ubuntu
Everything lives in Linear now. => uses Linear
We cleaned up, and everything lives in Notion. => uses Notion
It's Helix now. => uses Helix
For my own stuff it's SQLite, always. => uses SQLite
pnpm > npm, every time. => prefers pnpm
Python > Java => prefers Python
Signed out of Twitter for good. =>  | uses Twitter
Retro outcome: we keep the Monday demo. => decided Keep the Monday demo
Decision from today's call: no new features until June. => decided No new features until June
After the outage we agreed: two reviewers on every change. => decided Two reviewers on every change
We're reversing last month's decision to close the clinic. =>  | decided Close the clinic
Back to the Juniper audit for me. => works_on Juniper Audit
Currently juggling two things: the Wren dashboard and a thesis. => works_on Wren Dashboard
I'm heads-down on Orchid until Wednesday, ping me only if something burns. => works_on Orchid
I'm working on Orchid, please call me if you need it. => works_on Orchid
"""
"""What has words that no form has, so that nothing is stated, or a part: never something else."""


LABELLED = """
Preferences: dark mode, snake_case names. => prefers dark mode, prefers snake_case names
## Preferences¶- Metric units¶- No emojis => prefers Metric units, prefers No emojis
## Preferences¶- Tone: warm¶- Editor: Helix => prefers Tone: warm, prefers Helix
**Preferences:**¶¶* dark mode¶* tabs over spaces => prefers dark mode, prefers tabs over spaces
Likes: hiking, jazz and long walks => prefers hiking, prefers jazz, prefers long walks
User preferences:¶- Use metric units => prefers metric units
Favourite authors: Le Guin, Chiang => prefers Le Guin, prefers Chiang
Stack: Go, Redis for caching, hammer => uses Go, uses Redis
Technical context:¶- Shell: fish¶- Editor: Emacs (Doom) => uses Fish, uses Emacs
Languages: OCaml, some Python, R => uses OCaml, uses Python, uses R
Homelab: two Proxmox nodes, Tailscale for all hosts. => uses Proxmox, uses Tailscale
## Tools¶- Figma for UI¶- Notes: Logseq¶- Python: scripts => uses Figma, uses Logseq, uses Python
Tools I use: Vim, tmux => uses Vim, uses tmux
Database = Postgres => uses PostgreSQL
- Preferences:¶  - dark mode¶- Tools:¶  - Vim => prefers dark mode, uses Vim
Current projects: Harbor, Lumen => works_on Harbor, works_on Lumen
## Projects¶- Harbor: billing¶- Roof repair => works_on Harbor, works_on Roof repair
Working on: Tidewater => works_on Tidewater
Decisions:¶- use SQLite¶- no ORM => decided Use SQLite, decided No ORM
Decision log¶2024-12-01: drop Redis because it was slow => decided Drop Redis
Decision 12 March: no ads until we convert above 8%. => decided No ads until we convert above 8%
[2024-11-03] Decision: keep the monolith => decided Keep the monolith
ADR-007: sessions move to Valkey. Rationale in ./docs/7.md. => decided Sessions move to Valkey
# ADR-3: Use Redis for sessions¶¶Status: accepted => decided Use Redis for sessions
Decided: no ORM in the payments service. Plain SQL. => decided No ORM in the payments service
Decisions so far: (1) food by Marisol, (2) no gifts. => decided Food by Marisol, decided No gifts
Agreed in the retro: deploys on Friday are off => decided Deploys on Friday are off
User profile:¶- Uses fish¶- Prefers tea => uses Fish, prefers tea
Stack: none yet =>
Stack: Redis or Kafka =>
Stack: Redis → Valkey =>
Stack (2019): PHP =>
Stack (planned): Redis =>
Old stack: PHP =>
Shell: black from the sea =>
Languages: English, German =>
Build: failed on Windows =>
Tools: hammer, chisel =>
Likes: 24 · Comments: 3 =>
Preferences: none =>
Preferences of Alice: dark mode =>
Preferred name: Sam =>
Preferences¶Alice prefers dark mode and Bob likes tabs. =>
Alice's setup:¶- Editor: Vim =>
# Alice¶## Preferences¶- dark mode =>
## Marta¶- Editor: Vim =>
# Team¶## Marta¶- Stack: Rails =>
# Preferences¶## Options¶- dark mode =>
# Ideas¶## Decisions¶- use Redis =>
Name: Dana¶Company: Initech¶Stack: Java, Redis =>
Job posting: engineer¶Stack: Go, Redis =>
Competitor stack: Rails, Redis =>
Candidate tools:¶- Redis =>
Requirements:¶- Docker =>
Example:¶Editor: Vim =>
Wishlist: Figma, Notion =>
- Bob is our designer¶- Uses Figma¶- Prefers tea =>
editor: helix¶theme: dark =>
Decision: pending =>
Decision: use Redis? =>
Decision: whether to use Redis =>
Open decisions:¶- use Redis =>
Decisions:¶- [ ] use Redis¶- Owner: Kim =>
Decision: use Redis. Just kidding. =>
# ADR-3: Use Redis for sessions¶¶Status: proposed =>
I'm working on Harbor. Stack: Redis. Editor: Helix => works_on Harbor, uses Helix
I'm working on Harbor. My stack: Redis => works_on Harbor, uses Redis
I use: ¶- tmux => uses tmux
Agreed with Kim: weekly sync => decided Weekly sync
Operating system: Fedora => uses Fedora
**Project**: Lumen (photo site) => works_on Lumen
I met Tom today. Stack: Redis. =>
Fieldly is a competitor. Stack: Redis. =>
Imagine I work at X. Stack: Redis. =>
Editor: Helix, shell: fish; terminal: Kitty => uses Helix, uses Fish, uses Kitty
Decision: I'll take the job in Oslo => decided Take the job in Oslo
Decision: we're going with Hetzner => decided Hetzner
## Decision¶¶We chose Redis because it is fast. => decided Redis
Decision: not to use Redux => decided Not to use Redux
Decision: Redis or Kafka =>
Decision: approved by board: new roof =>
ADR-12: Use Redis (superseded) =>
Languages: Python (daily), Rust (learning) =>
Editor: Helix (formerly Vim) =>
Here's my stack:¶- Go¶- Redis => uses Go, uses Redis
Stuff I use daily:¶- tmux => uses tmux
Things I like:¶- tea¶- rain => prefers tea, prefers rain
Hi Tom,¶Stack: Redis => uses Redis
Things Bob and I like:¶- tea =>
Likes: 24 people =>
Preferences: dark mode, or light mode =>
Projects¶- Harbor - Kim owns it¶- Lumen => works_on Lumen
Decision: Kim said we should use Redis =>
Decision: to be made by Kim =>
Song: Ruby¶Language: Go =>
Marta Kowalski¶Designer¶Stack: Figma =>
Decided:¶1. Bo writes the docs => decided Bo writes the docs
1:1 with Dana¶- Prefers async updates¶- Uses Notion =>
Senior engineer (m/f/d)¶¶Stack:¶- Go =>
Workshop: Intro to Rust¶Tools: VS Code =>
Dog: Biscuit¶Likes: cheese =>
# Kestrel¶¶A job runner.¶¶## Tools¶- Go =>
Team preferences:¶- Dana: async updates =>
Likes:¶- tea¶Dislikes:¶- noise => prefers tea
Preferences:¶- dark mode¶¶Things to avoid:¶- noise => prefers dark mode
Tools:¶- ~~Jira~~¶- Figma => uses Figma
Tools:¶- ❌ Jira¶- [ ] Figma =>
Preferences: dark mode or light mode =>
Preferences: ask Tom =>
You have access to these tools:¶- Python =>
Assistant: Preferences:¶- dark mode¶User: ok =>
Persona: Maria, teacher¶Likes: yoga¶Tools: Canva =>
Agenda:¶- Stack: Redis =>
Preferred qualifications: Python, Docker =>
Favourite teacher: Ms Kim =>
Decision: Kim to decide by Friday =>
Decision criteria: price, support =>
Hosting: Heroku until May =>
Database: Postgres (was MySQL) =>
Languages: Python 60%, C 40% =>
Tools to try: Trello =>
Project: Harbor (Kim's) =>
Project: TBD =>
Past projects: Harbor =>
Project: Harbor¶Status: cancelled =>
Project: Harbor¶Owner: Kim =>
Working on: the login bug =>
Project: Fennel¶Stack: Redis, Go¶Editor: Helix => works_on Fennel, uses Helix
"""


def cases() -> list[tuple[str, str]]:
    kinds = (
        PAST,
        DENIED,
        ORDER,
        REPLACED,
        SWITCH,
        PLAN,
        OTHERS,
        TRANSCRIPTS,
        IDIOMS,
        MODELS,
        ENGLISH,
        PLAIN,
        WORDINGS,
        UNSTATED,
        FINISHED,
        ASIDE,
        EVERYDAY,
        FOLLOWED,
        TAKEN_BACK,
        SUBJECTS,
        LABELLED,
    )
    return lines_of("".join(kinds))


def lines_of(kind: str) -> list[tuple[str, str]]:
    lines = (line.split("=>") for line in kind.splitlines() if line)
    return [(text.replace("¶", "\n"), facts.strip()) for text, facts in lines]


def shown(edges: tuple[FoundEdge, ...]) -> list[str]:
    return sorted(
        f"{edge.predicate} {edge.object.name}".lower()
        for edge in edges
        if edge.subject.type == "user"
    )


@each_case("text, facts", cases())
def test_a_note_states_what_its_kind_says(text: str, facts: str) -> None:
    held, _, ended = (part.strip() for part in facts.partition("|"))
    extraction = extract(text)
    assert shown(extraction.edges) == sorted(filter(None, held.lower().split(", ")))
    assert shown(extraction.ended) == sorted(filter(None, ended.lower().split(", ")))


@pytest.mark.parametrize(("text", "facts"), lines_of(UNREAD))
def test_a_note_in_other_words_states_nothing_else(text: str, facts: str) -> None:
    held, _, ended = (part.strip() for part in facts.partition("|"))
    extraction = extract(text)
    assert set(shown(extraction.edges)) <= set(held.lower().split(", "))
    assert set(shown(extraction.ended)) <= set(ended.lower().split(", "))


@each_case(
    "text, successor",
    [
        ("I no longer use npm, I use pnpm.", "pnpm"),
        ("I stopped using npm. I use pnpm now.", "pnpm"),
        ("I no longer use npm.\nI'm using pnpm instead.", "pnpm"),
        ("I stopped using npm. I use Docker.", None),
        ("I stopped using npm. I use pnpm and Docker now.", None),
        ("I stopped using npm. It was slow. I use pnpm now.", None),
        ("I use pnpm instead of npm now.", "pnpm"),
        ("We switched from npm to pnpm, and I use Docker.", "pnpm"),
        ("We switched from npm to pnpm and Bun.", None),
        ("I use pnpm instead of npm.", "pnpm"),
        ("We dropped npm and adopted pnpm.", "pnpm"),
        ("npm has been replaced by pnpm.", "pnpm"),
        ("I use npm. I no longer use npm, I use pnpm.", "pnpm"),
    ],
)
def test_what_took_the_place_of_a_relation(text: str, successor: str | None) -> None:
    (ended,) = extract(text).ended
    assert ended.object.name == "npm"
    assert (ended.superseded_by and ended.superseded_by.object.name) == successor


def test_a_correction_ends_the_decisions_before_it_in_the_note() -> None:
    text = "We decided to use Redis for queues. Scratch that: not Redis. We decided to use Redis."
    extraction = extract(text)
    assert shown(extraction.edges) == ["decided use redis"]
    assert "decided use redis for queues" in shown(extraction.ended)


@each_case(
    "text, stated",
    [
        ("Project: Fennel\nStack: Go, Redis", ["Fennel uses Go", "Fennel uses Redis"]),
        ("## Fennel\nStack: Go", ["Fennel uses Go"]),
        ("# Projects\n## Wren\n- Database: SQLite", ["Wren uses SQLite"]),
        ("# Project notes: Wren\n\nWren uses Redis.", ["Wren uses Redis"]),
        ("Project: Fennel\nDocs: ./docs/a.md", ["Fennel references ./docs/a.md"]),
        (
            "User is building Wayfarer. Backend: Go. DB: SQLite.",
            ["Wayfarer uses Go", "Wayfarer uses SQLite"],
        ),
        ("I'm working on Lumen.\nStack: Go", ["Lumen uses Go"]),
        ("I'm working on Lumen.\n\nStack: Go", []),
        (
            "me: I'm building Lumen\nbot: What stack?\nme: Go plus Redis",
            ["Lumen uses Go", "Lumen uses Redis"],
        ),
        ("## Competitors\n### Fieldly\nStack: Go", []),
        ("## Acme Inc\nStack: Go", []),
        ("# Acme (client)\n\nStack: Go", []),
        ("## Installation\nTools: Go", []),
    ],
)
def test_labels_under_the_name_of_a_project_are_about_it(text: str, stated: list[str]) -> None:
    assert stated == [
        f"{edge.subject.name} {edge.predicate} {edge.object.name}"
        for edge in extract(text).edges
        if edge.subject.type == "project"
    ]


def test_an_item_is_taken_whole() -> None:
    (edge,) = extract("## Preferences\n- Concise answers, no emojis (ever)\n").edges
    assert (edge.object.name, edge.weight) == ("Concise answers, no emojis (ever)", 1.0)
    assert extract(f"## Preferences\n- dark {'very ' * 40}mode").edges == ()
    assert extract("Preferences:\n- the password hunter2\n- +1 555 123 4567").entities == ()
