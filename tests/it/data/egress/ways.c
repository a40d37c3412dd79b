// Ways to leave a machine that languages seldom take, each to an address of its own. Says how each of them ended.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_in at(const char *ip, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, ip, &address.sin_addr);
    return address;
}

static void say(const char *way, long result) {
    fprintf(stderr, "%s: %s\n", way, result < 0 ? strerrorname_np(errno) : "passed");
}

static int tcp(void) { return socket(AF_INET, SOCK_STREAM, 0); }

static void *on_a_thread(void *unused) {
    struct sockaddr_in to = at("192.0.2.38", 38);
    say("thread", connect(tcp(), (void *)&to, sizeof to));
    return unused;
}

static struct sockaddr_in shared;
static int socket_of_parent;

int main(void) {
    struct sockaddr_in to = at("192.0.2.31", 31);
    say("connect", connect(tcp(), (void *)&to, sizeof to));

    // Only the second message leaves.
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in here = at("127.0.0.1", 9), there = at("192.0.2.32", 32);
    struct iovec word = {"x", 1};
    struct mmsghdr messages[2] = {{{&here, sizeof here, &word, 1}}, {{&there, sizeof there, &word, 1}}};
    say("sendmmsg", sendmmsg(udp, messages, 2, 0));

    to = at("192.0.2.33", 33);
    say("fast open", sendto(tcp(), "x", 1, MSG_FASTOPEN, (void *)&to, sizeof to));

    int copied = dup(tcp());
    if (fork() == 0) {
        to = at("192.0.2.34", 34);
        say("a descriptor of the parent", connect(copied, (void *)&to, sizeof to));
        _exit(0);
    }
    wait(NULL);

    shared = at("192.0.2.35", 35);
    socket_of_parent = tcp();
    if (vfork() == 0) {
        syscall(SYS_connect, socket_of_parent, &shared, sizeof shared);
        _exit(0);
    }
    wait(NULL);

    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = htons(36)};
    inet_pton(AF_INET6, "::ffff:192.0.2.36", &mapped.sin6_addr);
    say("mapped", connect(socket(AF_INET6, SOCK_STREAM, 0), (void *)&mapped, sizeof mapped));

    // A socket without a connection, which gets another end later.
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    connect(udp, &none, sizeof none);
    to = at("192.0.2.37", 37);
    say("again", connect(udp, (void *)&to, sizeof to));

    pthread_t thread;
    pthread_create(&thread, NULL, on_a_thread, NULL);
    pthread_join(thread, NULL);

    // Without a family, which UDP takes as IPv4.
    to = at("192.0.2.39", 39);
    to.sin_family = AF_UNSPEC;
    say("no family", sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&to, sizeof to));

    // SYS_io_uring_setup; its parameters are 120 bytes.
    char parameters[120] = {0};
    say("ring", syscall(425, 4, parameters));
    puts("{\"type\": \"done\"}");
    return 0;
}
